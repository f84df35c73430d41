// Variable-length integers: seven bits a byte, low ones first, and the high bit of all but the last byte set. The one place that defines how
// long they are; the writer and the reader of this folder write and read them.

/** Bytes of the longest varint of a safe integer. */
export const MAX_VARINT_BYTES = 8;

/** Bytes that the varint of a safe integer from 0 takes. */
export const varintLength = (value: number): number => {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  if (value < 0x1000_0000) return 4;
  let length = 5;
  for (let rest = value / 2 ** 35; rest >= 1; rest /= 0x80) length++;
  return length;
};
