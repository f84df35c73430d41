// The left part of a line of a waterfall: the branches of the tree, and what stands there. It takes the columns it is given and no more,
// however long names are and however deep the tree is.

import { cut, displayWidth } from '../../base/text/display-width.js';
import { shortText } from '../../base/text/escape-text.js';
import type { Glyphs, Palette } from './palette.js';
import { type Branch, type DrawnNode, LEVEL_COLUMNS } from './trace-tree.js';

/** A line of the drawing. */
export interface Row extends Branch {
  readonly node: DrawnNode;
  /** '' where it is that of the parent. */
  readonly service: string;
  /** The parent is there, and hangs below it: a circle, which was opened here. */
  readonly isOpened: boolean;
}

/** Levels that are drawn in so many columns; deeper ones are numbered. */
export const levelsIn = (columns: number): number => Math.max(1, Math.floor((columns * 0.6) / LEVEL_COLUMNS));

const MAX_NAME = 200;

/** Name and what is said of it, without colours. */
const textsOf = (
  { node, service, isOpened }: Row,
  { error }: Glyphs,
): readonly [mark: string, name: string, rest: string] => {
  const { span, children } = node;
  if (span === undefined) return ['', `parent ${children[0].span?.parentSpanId} is not in the archive`, ''];
  const rest = [service === '' ? '' : shortText(service, MAX_NAME), isOpened ? '(parents in a circle)' : ''];
  const mark = span.statusCode === 'error' ? `${error} ` : '';
  return [mark, shortText(span.name, MAX_NAME) || '(no name)', rest.filter((one) => one !== '').join(' ')];
};

/** Columns that the whole label would take. */
export const labelWidth = (row: Row, glyphs: Glyphs): number => {
  const [mark, name, rest] = textsOf(row, glyphs);
  return displayWidth(row.branch) + mark.length + displayWidth(name) + (rest === '' ? 0 : 1 + displayWidth(rest));
};

/** The label in exactly `width` columns. */
export const drawLabel = (row: Row, width: number, glyphs: Glyphs, palette: Palette): string => {
  const [mark, name, rest] = textsOf(row, glyphs);
  const branch = cut(row.branch, width, glyphs.more);
  let left = width - displayWidth(branch);
  const shownName = cut(mark + name, left, glyphs.more);
  left -= displayWidth(shownName);
  const shownRest = rest === '' || left < 2 ? '' : cut(rest, left - 1, glyphs.more);
  if (shownRest !== '') left -= 1 + displayWidth(shownRest);
  const { span } = row.node;
  const style = span === undefined ? palette.yellow : span.statusCode === 'error' ? palette.red : palette.bold;
  return `${palette.dim(branch)}${style(shownName)}${shownRest === '' ? '' : ` ${palette.dim(shownRest)}`}${' '.repeat(left)}`;
};
