// The order of keys: that of their UTF-8 bytes, which JavaScript's own comparison of strings is not for text beyond U+FFFF.

/** Negative, zero or positive as `a` sorts before, with or after `b` in UTF-8 bytes. */
export const compareBytes = (a: string, b: string): number => {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // A surrogate stands for a character beyond U+FFFF, whose bytes sort after all others.
    const isHighX = x >= 0xd800 && x <= 0xdfff;
    const isHighY = y >= 0xd800 && y <= 0xdfff;
    if (isHighX !== isHighY) return isHighX ? 1 : -1;
    return x - y;
  }
  return a.length - b.length;
};

/** The bytes after all keys that start with `prefix`; undefined when no bytes are. */
export const prefixEnd = (prefix: string): Buffer | undefined => {
  const bytes = Buffer.from(prefix);
  // UTF-8 never holds 0xff, so the last byte can always be raised.
  if (bytes.length === 0) return undefined;
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] as number) + 1;
  return bytes;
};
