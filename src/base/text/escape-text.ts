// Makes text from anywhere harmless to print. What it returns must never move the cursor, change colours, start a line, reorder the text
// around it or hide characters from its reader.

/**
 * The inside of a character class (with the flag `u`): C0 and C1 controls, line and paragraph separators, marks, embeddings and isolates that
 * switch the direction of text, deprecated format characters, the byte order mark, interlinear annotations, invisible tags, and halves
 * of surrogate pairs.
 */
export const UNSAFE =
  '\\p{Cc}\\p{Zl}\\p{Zp}\\p{Bidi_Control}\\p{Surrogate}\\u206a-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}';

const ANY = new RegExp(`[${UNSAFE}]`, 'u');
const EACH = new RegExp(`[${UNSAFE}]`, 'gu');

const SHORT_FORMS: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** One character as JavaScript would write it: `\x1b`, `\u202e`, `\u{e0041}`. */
export const escapeCharacter = (char: string): string => {
  const digits = (char.codePointAt(0) as number).toString(16);
  if (digits.length > 4) return `\\u{${digits}}`;
  return digits.length > 2 ? `\\u${digits.padStart(4, '0')}` : `\\x${digits.padStart(2, '0')}`;
};

const toEscape = (char: string): string => SHORT_FORMS[char] ?? escapeCharacter(char);

/** Whether text can be printed as it is. */
export const isSafeText = (text: string): boolean => !ANY.test(text);

/** `text` on one line. */
export const escapeText = (text: string): string => text.replace(EACH, toEscape);

/** A message of several lines, each harmless. */
export const escapeLines = (text: string): string => text.split('\n').map(escapeText).join('\n');

/** `text` on one line; cut, before it is escaped, to `maxLength` UTF-16 units and a mark. */
export const shortText = (text: string, maxLength = 200, mark = '…'): string => {
  if (text.length <= maxLength) return escapeText(text);
  const code = text.charCodeAt(maxLength - 1);
  // A pair of surrogates stays whole, or out.
  const end = code >= 0xd800 && code < 0xdc00 ? maxLength - 1 : maxLength;
  return escapeText(text.slice(0, end)) + mark;
};

/** What another program said, to be quoted in a message: blanks and line breaks become one blank each, and what is long is cut. */
export const quoteWords = (text: string, maxLength = 200): string =>
  shortText(text.replace(/[\s\p{Cc}]+/gu, ' ').trim(), maxLength, '...');
