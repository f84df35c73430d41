// A double that is a whole number. In JavaScript 2 and 2.0 are one number; in OpenTelemetry they are two values, and what came as one must
// never leave as the other.

/**
 * The double 2.0 as a property: the number 2 is an integer. Decoding makes one only where a double is a whole number below 2^53; all other
 * doubles are plain numbers. It counts and prints as the number it stands for.
 *
 * @example
 * ```ts
 * import { ArchivedDouble, encodeOtlpJson } from '@spanline/archive';
 * console.assert(new ArchivedDouble(2).value + 1 === 3 && `${new ArchivedDouble(2)}` === '2');
 * ```
 */
export class ArchivedDouble {
  constructor(readonly value: number) {}

  valueOf(): number {
    return this.value;
  }

  toString(): string {
    return String(this.value);
  }

  toJSON(): number {
    return this.value;
  }
}

/** A double as a value of a property. */
export const doubleValue = (value: number): number | ArchivedDouble =>
  Number.isSafeInteger(value) && !Object.is(value, -0) ? new ArchivedDouble(value) : value;
