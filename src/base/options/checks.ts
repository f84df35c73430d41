// Checks of options and arguments, in one set of words: the name, what it must be, and what it is. Each module throws its own error; a value
// must be shown so that the message cannot fail or grow without bound.

/** Makes the error of a module from a message. */
export type ToError = (message: string) => Error;

/** A wrong value in the text of an error; `String` of an object can throw. */
export const shown = (value: unknown): string => {
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
};

type NumberCheck = (
  name: string,
  value: unknown,
  range: readonly [min: number, max?: number],
  toError: ToError,
) => number;

const numberCheck =
  (kind: string, isRight: (value: unknown) => boolean): NumberCheck =>
  (name, value, [min, max = Number.POSITIVE_INFINITY], toError) => {
    if (isRight(value) && (value as number) >= min && (value as number) <= max) return value as number;
    const range = max >= Number.MAX_SAFE_INTEGER ? `from ${min} on` : `from ${min} to ${max}`;
    throw toError(`${name} must be ${kind} ${range}, not ${shown(value)}`);
  };

/** `value` when it is a whole number from `min` to `max`. */
export const wholeNumber = numberCheck('a whole number', Number.isSafeInteger);

/** `value` when it is a finite number from `min` to `max`. */
export const finiteNumber = numberCheck('a finite number', Number.isFinite);

/** `value` when it is a number from `min` to `max`, which may be infinite. */
export const anyNumber = numberCheck('a number', (value) => typeof value === 'number');

/** `value` when it is true or false. */
export const flag = (name: string, value: unknown, toError: ToError): boolean => {
  if (typeof value === 'boolean') return value;
  throw toError(`${name} must be true or false, not ${shown(value)}`);
};

/** `value` when it is one of a few texts. */
export const oneOf = <T extends string>(name: string, value: unknown, allowed: readonly T[], toError: ToError): T => {
  if (allowed.includes(value as T)) return value as T;
  throw toError(`${name} must be one of ${allowed.join(', ')}, not ${shown(value)}`);
};

/** Whether the place of an archive is meant to be in an object store: `s3://bucket/prefix`, well written or not; every other one is a directory. */
export const isBucket = (place: string): boolean => /^s3:/i.test(place);
