// Makes names and values from a traced program harmless to print: no control character reaches the terminal.
// It must never return a string that moves the cursor, changes colours, reorders text or starts a new line.

/** C0 and C1 controls, delete, line and paragraph separators, and what switches the direction of text. */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff]/gu;

const SHORT_FORMS: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const toEscape = (char: string): string => {
  const short = SHORT_FORMS[char];
  if (short !== undefined) return short;
  const code = char.charCodeAt(0); // all of them are single UTF-16 units
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
};

/** Escapes, and cuts what is longer than `maxLength` UTF-16 units (before escaping). */
export const escapeText = (text: string, maxLength = 200): string => {
  const isLong = text.length > maxLength;
  const shown = isLong ? text.slice(0, maxLength) : text;
  return shown.replace(UNSAFE, toEscape) + (isLong ? '…' : '');
};
