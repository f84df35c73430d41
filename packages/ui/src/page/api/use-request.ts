// A request as the state of a component: loading, an answer, or an error; and a value once it has stopped changing, for questions that a held key or
// a typed word would ask many times. A newer request must win over an older one, whichever answers last.
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

/** What there is to show. `value` of the last answer stays while the next one loads. */
export interface Requested<T> {
  readonly value?: T;
  readonly error?: Error;
  readonly isLoading: boolean;
}

interface Keyed<T> extends Requested<T> {
  readonly key: string | undefined;
}

/** Ask again whenever `key` changes; undefined asks nothing. */
export const useRequest = <T>(key: string | undefined, ask: (signal: AbortSignal) => Promise<T>): Requested<T> => {
  const [state, setState] = useState<Keyed<T>>({ key, isLoading: key !== undefined });
  // `ask` is a new function every time; what it asks for is the key.
  useEffect(() => {
    if (key === undefined) return setState({ key, isLoading: false });
    const controller = new AbortController();
    setState(({ value }) => ({ key, value, isLoading: true }));
    ask(controller.signal).then(
      (value) => !controller.signal.aborted && setState({ key, value, isLoading: false }),
      (error: Error) => !controller.signal.aborted && setState({ key, error, isLoading: false }),
    );
    return () => controller.abort();
  }, [key]);
  // Effects come after the first look with a new key, which must not take the answer to the old one for its own.
  return state.key === key ? state : { value: state.value, isLoading: key !== undefined };
};
