// A time on the command line. It must never take a number that it does not understand for one without a unit.
import { InvalidArgumentError } from 'commander';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, '': 1000, m: 60_000 };

/** Milliseconds of `120s`, `2m` or `500ms`; a number alone is seconds. */
export const duration = (text: string): number => {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|)$/.exec(text.trim()) ?? [];
  const ms = Number(number) * UNIT_MS[unit];
  if (ms > 0) return ms;
  throw new InvalidArgumentError('write a time such as 90s, 2m or 500ms.');
};
