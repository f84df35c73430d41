// The characters that a terminal can show.
import { type Glyphs, UNICODE } from 'spanline/internal/formats';

/** Where the terminal says that it knows no other. */
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

/** What the environment's terminal can show; one that says nothing is taken for one that knows Unicode, as nearly all are. */
export const glyphsOf = (env: Readonly<Record<string, string | undefined>> = process.env): Glyphs => {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  const isOther = locale !== '' && !/utf-?8/i.test(locale) && /^(?:C|POSIX)$|\./.test(locale);
  return isOther || env.TERM === 'dumb' || env.TERM === 'linux' ? ASCII : UNICODE;
};
