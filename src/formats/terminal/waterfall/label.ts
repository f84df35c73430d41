// The left part of a line: the branches of the tree, and what stands there. It takes the columns it is given and no more, however long names
// are and however deep the tree is.

import { cut, displayWidth } from '../../../base/text/display-width.js';
import { shortText } from '../../../base/text/escape-text.js';
import { serviceOf } from '../../../trace/trace-facts.js';
import type { Palette } from '../palette.js';
import type { Glyphs } from './glyphs.js';
import type { TraceNode } from './trace-tree.js';

/** A line of the drawing. */
export interface Row {
  readonly node: TraceNode;
  /** Left of the name. */
  readonly branch: string;
  /** Left of lines below it that belong to it. */
  readonly trunk: string;
  /** '' where it is that of the parent. */
  readonly service: string;
}

const LEVEL_COLUMNS = 3;

/** Levels that are drawn in so many columns; deeper ones are numbered. */
export const levelsIn = (columns: number): number => Math.max(1, Math.floor((columns * 0.6) / LEVEL_COLUMNS));

/** Keeps what stands left of the nodes while they come in the order of the drawing. */
export class Branches {
  /** By depth: what is drawn left of the children of the node that is open there. */
  private readonly trunks: string[] = [];

  constructor(
    private readonly glyphs: Glyphs,
    private readonly maxLevels: number,
  ) {}

  row(node: TraceNode, depth: number, isLast: boolean, parent: TraceNode | undefined): Row {
    const { branch, lastBranch, trunk } = this.glyphs;
    const above = depth === 0 ? '' : this.trunks[depth - 1];
    const isDrawn = depth > 0 && depth <= this.maxLevels;
    const own = isDrawn ? above + (isLast ? ' '.repeat(LEVEL_COLUMNS) : trunk) : above;
    this.trunks[depth] = own;
    const service = node.span === undefined ? '' : serviceOf(node.span);
    return {
      node,
      branch: isDrawn ? above + (isLast ? lastBranch : branch) : depth === 0 ? '' : `${above}[${depth}] `,
      trunk: own + (node.children.length > 0 && depth < this.maxLevels ? trunk : ' '.repeat(LEVEL_COLUMNS)),
      service: parent?.span !== undefined && serviceOf(parent.span) === service ? '' : service,
    };
  }
}

const MAX_NAME = 200;

/** Name and what is said of it, without colours. */
const textsOf = ({ node, service }: Row, { error }: Glyphs): readonly [mark: string, name: string, rest: string] => {
  const { span, spanId, isOpened } = node;
  if (span === undefined) return ['', `parent ${spanId} is not in the archive`, ''];
  const rest = [service === '' ? '' : shortText(service, MAX_NAME), isOpened ? '(parents in a circle)' : ''];
  const mark = span.status.code === 'error' ? `${error} ` : '';
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
  const style = span === undefined ? palette.yellow : span.status.code === 'error' ? palette.red : palette.bold;
  return `${palette.dim(branch)}${style(shownName)}${shownRest === '' ? '' : ` ${palette.dim(shownRest)}`}${' '.repeat(left)}`;
};
