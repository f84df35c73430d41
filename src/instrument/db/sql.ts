// The text of a query without the values in it, and what it does to which table. No literal, comment or heredoc may be left; where a quote
// does not close, everything behind it goes.

/** How strings are quoted: MySQL has backslashes and double quotes. */
export type Dialect = 'ansi' | 'mysql';

const MAX = 4096;
const MAX_SUMMARY_LENGTH = 255;

// Where databases differ about the end of a comment, everything behind its beginning goes: they nest in PostgreSQL alone.
const ANSI_COMMENT = String.raw`--[^\n\r]*(?:\r(?!\n)[\s\S]*)?|\/\*(?:(?!\/\*|\*\/)[\s\S])*(?:\*\/|$)|\/\*[\s\S]*`;
const MYSQL_COMMENT = String.raw`--(?=\s|$)[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|#[^\n]*`;
// With digits in groups, and those of any base.
const NUMBER = String.raw`(?<![\w$])(?:\d\w*(?:\.\w*)?|\.\d\w*)(?:(?<=[eE])[+-]\d\w*)?`;
const IDENTIFIER = '(?<name>`(?:``|[^`])*`)';

const TOKENS: Readonly<Record<Dialect, RegExp>> = {
  // A text may be cut behind a backslash.
  ansi: new RegExp(
    [
      `(?<comment>${ANSI_COMMENT})`,
      '(?<name>"(?:""|[^"])*")',
      // Heredocs, then strings with backslashes, then plain ones.
      String.raw`(?<![\w$])\$(?<tag>[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$[\s\S]*?(?:\$\k<tag>\$|$)`,
      String.raw`\b[eE]'(?:\\[\s\S]|''|[^'\\])*(?:'|\\?$)`,
      String.raw`(?:\b(?:[xXbBnN]|[uU]&))?'(?:''|[^'])*(?:'|$)`,
      String.raw`"[\s\S]*$`,
      NUMBER,
    ].join('|'),
    'g',
  ),
  mysql: new RegExp(
    [
      `(?<comment>${MYSQL_COMMENT})`,
      IDENTIFIER,
      String.raw`(?:\b[xXbBnN])?'(?:\\[\s\S]|''|[^'\\])*(?:'|\\?$)`,
      String.raw`"(?:\\[\s\S]|""|[^"\\])*(?:"|\\?$)`,
      '`[\\s\\S]*$',
      NUMBER,
    ].join('|'),
    'g',
  ),
};

/** `text` with `?` for each value, without comments, cut at 4,096 characters. */
export const withoutValues = (text: string, dialect: Dialect = 'ansi'): string =>
  text
    .slice(0, MAX)
    .replace(TOKENS[dialect], (token: string, ...rest: unknown[]) => {
      const groups = rest[rest.length - 1] as { comment?: string; name?: string };
      if (groups.name !== undefined) return token;
      return groups.comment === undefined ? '?' : ' ';
    })
    .replace(/\s+/g, ' ')
    .replace(/\bIN ?\( ?\?(?: ?, ?\?)+ ?\)/gi, 'IN (?)')
    .trim();

const OPERATION = /^\(*\s*([a-z]+)\b/i;
const TARGET = /\b(?:from|into|update|join|table(?: if (?:not )?exists)?)\s+([\w$."`]+)/i;

/** What a query without values does, and to which table: few words, for a name. */
export const summaryOf = (text: string): { readonly operation?: string; readonly summary: string } => {
  const operation = OPERATION.exec(text)?.[1].slice(0, 32).toUpperCase();
  if (operation === undefined) return { summary: '' };
  const target = TARGET.exec(text)?.[1].replace(/["`]/g, '');
  return {
    operation,
    summary: (target === undefined ? operation : `${operation} ${target}`).slice(0, MAX_SUMMARY_LENGTH),
  };
};
