// The text of a query without the values in it, and what it does to which table. No literal, comment or heredoc may be left; where a quote
// does not close, or a setting of the server decides where one does, everything behind it goes.

/** How strings and names are quoted: MySQL has backslashes and double quotes, SQLite names in any quotes. */
export type Dialect = 'ansi' | 'mysql' | 'sqlite';

const MAX = 4096;
const MAX_SUMMARY_LENGTH = 255;

// Where databases differ about the end of a comment, everything behind its beginning goes: they nest in PostgreSQL alone.
const ANSI_COMMENT = String.raw`--[^\n\r]*(?:\r(?!\n)[\s\S]*)?|\/\*(?:(?!\/\*|\*\/)[\s\S])*(?:\*\/|$)|\/\*[\s\S]*`;
const MYSQL_COMMENT = String.raw`--(?=\s|$)[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|#[^\n]*`;
// With digits in groups, and those of any base.
const NUMBER = String.raw`(?<![\w$])(?:\d\w*(?:\.\w*)?|\.\d\w*)(?:(?<=[eE])[+-]\d\w*)?`;
const BACKTICKED = '`(?:``|[^`])*`';
const DOUBLE_QUOTED = '"(?:""|[^"])*"';

const TOKENS: Readonly<Record<Dialect, RegExp>> = {
  // A text may be cut behind a backslash.
  ansi: new RegExp(
    [
      `(?<comment>${ANSI_COMMENT})`,
      `(?<name>${DOUBLE_QUOTED})`,
      // Heredocs, then strings with backslashes, then plain ones.
      String.raw`(?<![\w$])\$(?<tag>[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$[\s\S]*?(?:\$\k<tag>\$|$)`,
      String.raw`\b[eE]'(?:\\[\s\S]|''|[^'\\])*(?:'|\\?$)`,
      // With `standard_conforming_strings` off a quote behind a backslash is a part of its string: from there on all goes.
      String.raw`(?:\b(?:[xXbBnN]|[uU]&))?'(?:''|[^'\\]|\\(?!'))*(?:\\'[\s\S]*$|'|$)`,
      String.raw`"[\s\S]*$`,
      NUMBER,
    ].join('|'),
    'g',
  ),
  mysql: new RegExp(
    [
      `(?<comment>${MYSQL_COMMENT})`,
      `(?<name>${BACKTICKED})`,
      String.raw`(?:\b[xXbBnN])?(?<quote>['"])(?:\\[\s\S]|\k<quote>\k<quote>|(?!\k<quote>)[^\\])*(?:\k<quote>|(?<open>\\?$))`,
      '`[\\s\\S]*$',
      NUMBER,
    ].join('|'),
    'g',
  ),
  sqlite: new RegExp(
    [
      `(?<comment>${ANSI_COMMENT})`,
      `(?<name>${DOUBLE_QUOTED}|${BACKTICKED}|\\[[^\\]]*\\])`,
      String.raw`(?:\b[xX])?'(?:''|[^'])*(?:'|$)`,
      '["`[][\\s\\S]*$',
      NUMBER,
    ].join('|'),
    'g',
  ),
};

/**
 * A text of MySQL up to where it can be read in two ways: with `NO_BACKSLASH_ESCAPES` a quote behind a backslash ends its string. By default it does
 * not, and there is one in each name with an apostrophe, so that it is doubted only where a string is left open in the end.
 */
const certainPart = (text: string): string => {
  let doubted = -1;
  for (const { 0: token, index, groups } of text.matchAll(TOKENS.mysql)) {
    if (groups?.quote === undefined) continue;
    if (doubted < 0 && /\\['"]/.test(token)) doubted = index;
    if (doubted >= 0 && groups.open !== undefined) return `${text.slice(0, doubted)}'`;
  }
  return text;
};

/** `text` with `?` for each value, without comments, cut at 4,096 characters. */
export const withoutValues = (text: string, dialect: Dialect = 'ansi'): string =>
  (dialect === 'mysql' && text.includes('\\') ? certainPart(text.slice(0, MAX)) : text.slice(0, MAX))
    .replace(TOKENS[dialect], (token: string, ...rest: unknown[]) => {
      const groups = rest[rest.length - 1] as { comment?: string; name?: string };
      if (groups.name !== undefined) return token;
      return groups.comment === undefined ? '?' : ' ';
    })
    .replace(/\s+/g, ' ')
    .replace(/\bIN ?\( ?\?(?: ?, ?\?)+ ?\)/gi, 'IN (?)')
    .trim();

const OPERATION = /^\(*\s*([a-z]+)\b/i;
const TARGET = /(?<!\bdistinct )\b(?:from|into|update|join|table(?: if (?:not )?exists)?)\s+([\w$."`[\]]+)/i;
/** Functions in whose arguments FROM stands before no table. */
const FROM_OF_VALUES = /\b(?:extract|trim|substring|overlay)\s*\((?:[^()]|\([^()]*\))*\)/gi;

/** What a query without values does, and to which table: few words, for a name. */
export const summaryOf = (text: string): { readonly operation?: string; readonly summary: string } => {
  const operation = OPERATION.exec(text)?.[1].slice(0, 32).toUpperCase();
  if (operation === undefined) return { summary: '' };
  const target = TARGET.exec(text.replace(FROM_OF_VALUES, ''))?.[1].replace(/["`[\]]/g, '');
  return {
    operation,
    summary: (target === undefined ? operation : `${operation} ${target}`).slice(0, MAX_SUMMARY_LENGTH),
  };
};
