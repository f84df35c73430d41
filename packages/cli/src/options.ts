// Readers of option values, and the options that several commands have. A wrong value ends the command with exit code 2 and says what is right; none
// is taken for another, such as a time without a unit. Every command loads them: they must need nothing of the library, and open nothing.
import { InvalidArgumentError } from 'commander';
import { options, type Values } from './command.js';

const numberBy =
  (isRight: (value: number) => boolean, what: string) =>
  (text: string): number => {
    const value = Number(text);
    if (text.trim() !== '' && isRight(value)) return value;
    throw new InvalidArgumentError(`write ${what}.`);
  };

/** A whole number from `min` to `max`. */
export const wholeNumber = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  numberBy(
    (value) => Number.isSafeInteger(value) && value >= min && value <= max,
    `a whole number from ${min}${max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`}`,
  );

/** A number above `above`. */
export const realNumber = (above: number) => numberBy((value) => value > above, `a number above ${above}`);

/** A number from `min` to `max`. */
export const numberFrom = (min: number, max: number) =>
  numberBy((value) => value >= min && value <= max, `a number from ${min} to ${max}`);

const ISO_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** Unix milliseconds of an ISO 8601 time with its zone, or of a day (UTC); NaN for anything else, of which Date.parse makes a guess. */
export const isoTime = (text: string): number => (ISO_TIME.test(text) ? Date.parse(text) : Number.NaN);

/** A share: `5%` or `0.05`. */
export const share = (text: string): number => {
  const isPercent = text.endsWith('%');
  const value = Number(isPercent ? text.slice(0, -1) : text) / (isPercent ? 100 : 1);
  if (text.trim() !== '' && value >= 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('write a share such as 5% or 0.05.');
};

/** For an option that may be given several times. */
export const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, '': 1000, m: 60_000 };

/** Milliseconds of `120s`, `2m` or `500ms`; a number alone is seconds. */
export const duration = (text: string): number => {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|)$/.exec(text.trim()) ?? [];
  const ms = Number(number) * UNIT_MS[unit];
  if (ms > 0) return ms;
  throw new InvalidArgumentError('write a time such as 90s, 2m or 500ms.');
};

/** Of most commands. */
export const JSON_OPTION = ['--json', 'print JSON'] as const;

/** The option that says which archive. */
export const ARCHIVE = options({
  archive: ['-a, --archive <place>', 'directory of the archive, or s3://bucket/prefix (or SPANLINE_ARCHIVE)'],
});

/** Those of a command that reads alone and says what that took. */
export const READ_ARCHIVE = options({
  ...ARCHIVE,
  explain: ['--explain', 'say on standard error how long it took, and how many requests and bytes of an object store'],
});

/** Those of a command that writes have no `explain`. */
export type ReadOptions = Partial<Values<typeof READ_ARCHIVE>>;
