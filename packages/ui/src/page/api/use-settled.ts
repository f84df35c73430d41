// A value once it has stopped changing: for questions that a held key or a typed word would ask many times.
import { useEffect, useState } from 'preact/hooks';

/** The value as it was `ms` ago, if it has not changed since; at first the first one. */
export const useSettled = <T>(value: T, ms: number): T => {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    if (value === settled) return;
    const timer = setTimeout(() => setSettled(() => value), ms);
    return () => clearTimeout(timer);
  }, [value, settled]);
  return settled;
};
