// Readers of option values: a wrong one ends the command with exit code 2 and says what is right. Every command loads them: they must need
// nothing of the library.
import { InvalidArgumentError } from 'commander';

/** A whole number from `min` to `max`. */
export const wholeNumber =
  (min: number, max = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const value = Number(text);
    if (text.trim() !== '' && Number.isSafeInteger(value) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(
      `write a whole number from ${min}${max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`}.`,
    );
  };

/** A number above `above`. */
export const realNumber =
  (above: number) =>
  (text: string): number => {
    const value = Number(text);
    if (text.trim() !== '' && value > above) return value;
    throw new InvalidArgumentError(`write a number above ${above}.`);
  };

/** A number from `min` to `max`. */
export const numberFrom =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text);
    if (text.trim() !== '' && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`write a number from ${min} to ${max}.`);
  };

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
