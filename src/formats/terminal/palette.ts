// The few terminal styles the console uses, and whether to use them. No style may reach a stream that did not ask for it.
// And what trees and bars are drawn with.

export type Palette = Readonly<Record<'bold' | 'dim' | 'red' | 'cyan' | 'yellow', (text: string) => string>>;

const style =
  (open: number, close: number) =>
  (text: string): string =>
    text === '' ? '' : `\u001b[${open}m${text}\u001b[${close}m`;

const plain = (text: string): string => text;

export const PLAIN: Palette = { bold: plain, dim: plain, red: plain, cyan: plain, yellow: plain };

export const COLOURED: Palette = {
  bold: style(1, 22),
  dim: style(2, 22),
  red: style(31, 39),
  cyan: style(36, 39),
  yellow: style(33, 39),
};

/** `FORCE_COLOR` decides first, then `NO_COLOR`, then whether the stream is a terminal that is not dumb. */
export const wantsColors = (stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv = process.env): boolean => {
  const force = env.FORCE_COLOR;
  if (force !== undefined) return force !== '0' && force !== 'false';
  if (env.NO_COLOR) return false;
  return stream.isTTY === true && env.TERM !== 'dumb';
};

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
