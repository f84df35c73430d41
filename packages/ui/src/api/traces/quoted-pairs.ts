// Conditions on properties as people type them: `http.route=/orders user="Ada Lovelace"`. What cannot be read is refused, never searched for in part.

const PAIR = /\s*(?:"((?:[^"\\]|\\.)*)"|([^\s"=]+))=(?:"((?:[^"\\]|\\.)*)"(?=\s|$)|([^\s"]\S*|(?=\s|$)))/y;

const unescaped = (text: string): string => text.replace(/\\(.)/gs, '$1');

/**
 * The pairs of a text: `key=value`, apart by blanks. A key or a value with blanks, `=` or `"` at its start stands in double quotes, in which a
 * backslash takes the next character as it is. Undefined for anything else.
 */
export const quotedPairs = (text: string): Readonly<Record<string, string>> | undefined => {
  const pairs: [string, string][] = [];
  const trimmed = text.trim();
  PAIR.lastIndex = 0;
  while (PAIR.lastIndex < trimmed.length) {
    const [whole, quotedKey, key, quotedValue, value = ''] = PAIR.exec(trimmed) ?? [];
    if (whole === undefined) return undefined;
    pairs.push([
      quotedKey === undefined ? key : unescaped(quotedKey),
      quotedValue === undefined ? value : unescaped(quotedValue),
    ]);
  }
  return Object.fromEntries(pairs);
};
