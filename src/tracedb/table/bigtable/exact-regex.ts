// A regular expression, in the dialect of Bigtable's filters, that matches exactly one text of the given ones. Filters match bytes,
// so text goes in as UTF-8; a byte with a meaning must never get through unescaped.

const WORD = /^[A-Za-z0-9_]*$/;

// Bytes from 0x80 on are parts of characters and stand for themselves in RE2; a backslash before them would be an error.
const escapeBytes = (text: string): string => text.replace(/[^A-Za-z0-9_\u0080-\uffff]/g, '\\$&');

/** The regex for `texts`, which hold no NUL. */
export const exactRegex = (texts: readonly string[]): Buffer => {
  const escaped = texts.map((text) => (WORD.test(text) ? text : escapeBytes(text)));
  // Always a group: matching the whole value is written around it without one by some emulators.
  return Buffer.from(`(?:${escaped.join('|')})`);
};
