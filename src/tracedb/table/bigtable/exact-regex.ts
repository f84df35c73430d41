// A regular expression, in the dialect of Bigtable's filters, that matches exactly one of the given texts. A character with a
// meaning must never get through unescaped.

// What a backslash makes plain, line breaks too; before a letter or digit it would have a meaning of its own.
const SPECIAL = /[^A-Za-z0-9_]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are legal in qualifiers
const ASCII = /^[\x00-\x7f]*$/;

/** The regex for `texts`, undefined when it cannot be told: what filters make of bytes beyond ASCII differs between servers. */
export const exactRegex = (texts: readonly string[]): string | undefined => {
  if (!texts.every((text) => ASCII.test(text))) return undefined;
  // Always a group: some servers write the match of the whole value around it without one.
  return `(?:${texts.map((text) => text.replace(SPECIAL, '\\$&')).join('|')})`;
};
