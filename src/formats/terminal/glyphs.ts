// What a waterfall is drawn with: lines of Unicode, or ASCII where the terminal says that it knows no other. A terminal that says nothing is
// taken for one that knows Unicode, as nearly all are.

/** Three columns for each level of the tree; one for most others. */
export interface Glyphs {
  readonly branch: string;
  readonly lastBranch: string;
  readonly trunk: string;
  readonly bar: string;
  /** A bar that ends, or starts, in the middle of a column. */
  readonly barEnd: string;
  readonly barStart: string;
  readonly event: string;
  readonly error: string;
  readonly link: string;
  /** Behind a text that was cut. */
  readonly more: string;
  readonly dot: string;
  readonly plusMinus: string;
  /** Millionths of a second. */
  readonly micro: string;
}

export const UNICODE: Glyphs = {
  branch: '├─ ',
  lastBranch: '└─ ',
  trunk: '│  ',
  bar: '━',
  barEnd: '╸',
  barStart: '╺',
  event: '◆',
  error: '✗',
  link: '→',
  more: '…',
  dot: '·',
  plusMinus: '±',
  micro: 'µs',
};

export const ASCII: Glyphs = {
  branch: '|- ',
  lastBranch: '`- ',
  trunk: '|  ',
  bar: '=',
  barEnd: '=',
  barStart: '=',
  event: '*',
  error: 'x',
  link: '>',
  more: '~',
  dot: '-',
  plusMinus: '+-',
  micro: 'us',
};

/** What the environment's terminal can show. */
export const glyphsOf = (env: Readonly<Record<string, string | undefined>> = process.env): Glyphs => {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  const isOther = locale !== '' && !/utf-?8/i.test(locale) && /^(?:C|POSIX)$|\./.test(locale);
  return isOther || env.TERM === 'dumb' || env.TERM === 'linux' ? ASCII : UNICODE;
};
