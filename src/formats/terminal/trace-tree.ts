// Trees of spans as text: what a waterfall hangs below what, the branches that are drawn left of it, and the plain tree of names for tests.
// Every span stands in a tree once, whatever the parents say; in the plain one nothing may differ from run to run.

import { shortText } from '../../base/text/escape-text.js';
import type { FinishedSpan } from '../../record/finished-span.js';
import type { SpanRecord } from '../../record/record.js';
import { spanForest, walkTree } from '../../record/tree.js';
import type { Glyphs, Palette } from './palette.js';

/** A span, or the place of a parent that is absent. */
export interface DrawnNode {
  /** Undefined: the parent of the children is not in the archive. */
  readonly span: FinishedSpan | undefined;
  readonly isOrphan: boolean;
  /** By start. */
  readonly children: readonly DrawnNode[];
}

/** What is drawn for a node. */
export interface Branch {
  /** Left of the name. */
  readonly branch: string;
  /** Left of lines below it that belong to it. */
  readonly trunk: string;
}

/** Columns of a level. */
export const LEVEL_COLUMNS = 3;
const BLANK = ' '.repeat(LEVEL_COLUMNS);

/** A line of a drawing: a node, and what stands left of it and of the lines below it. */
export interface TreeRow extends Branch {
  readonly node: DrawnNode;
  readonly depth: number;
  /** The span above. */
  readonly above: FinishedSpan | undefined;
}

/** The rows of trees whose roots are `roots`, of `maxSpans` spans at most. */
export const treeRows = (
  roots: readonly DrawnNode[],
  { branch, lastBranch, trunk }: Glyphs,
  maxLevels: number,
  maxSpans: number,
): TreeRow[] => {
  // By depth: what is drawn left of the children of the node that is open there.
  const trunks: string[] = [];
  const nextBranch = (depth: number, isLast: boolean, hasChildren: boolean): Branch => {
    const above = depth === 0 ? '' : trunks[depth - 1];
    const isDrawn = depth > 0 && depth <= maxLevels;
    trunks[depth] = isDrawn ? above + (isLast ? BLANK : trunk) : above;
    return {
      branch: isDrawn ? above + (isLast ? lastBranch : branch) : depth === 0 ? '' : `${above}[${depth}] `,
      trunk: trunks[depth] + (hasChildren && depth < maxLevels ? trunk : BLANK),
    };
  };
  const rows: TreeRow[] = [];
  let count = 0;
  walkTree(roots, (node, depth, isLast, parent) => {
    if (node.span !== undefined && ++count > maxSpans) return false;
    rows.push({ ...nextBranch(depth, isLast, node.children.length > 0), node, depth, above: parent?.span });
    return true;
  });
  // Nothing hangs below it any more.
  if (rows.at(-1)?.node.span === undefined) rows.pop();
  return rows;
};

/** How the rows of a tree are drawn. */
export interface TreeDrawing<R extends TreeRow> {
  readonly palette: Palette;
  /** Branches and name, padded; those of an absent parent stand alone. */
  label(row: R): string;
  /** What stands behind the label. */
  columns(row: R, span: FinishedSpan): readonly string[];
  /** Lines below a span, to be drawn right of `trunk`, which may be cut. */
  details(row: R, span: FinishedSpan): readonly string[];
  /** Of so many spans that are not drawn. */
  rest(count: number): string;
}

const GAP = '  ';

/** The one drawing of a tree: a line a row with its columns, what belongs to it below it, and a last line for the spans beyond the rows. */
export const drawTree = <R extends TreeRow>(
  rows: readonly R[],
  spanCount: number,
  { palette, label, columns, details, rest }: TreeDrawing<R>,
): string[] => {
  const lines: string[] = [];
  let drawn = 0;
  for (const row of rows) {
    const { span } = row.node;
    lines.push([label(row), ...(span === undefined ? [] : columns(row, span))].join(GAP).trimEnd());
    if (span === undefined) continue;
    drawn++;
    for (const line of details(row, span)) lines.push(line);
  }
  if (drawn < spanCount) lines.push(palette.dim(rest(spanCount - drawn)));
  return lines;
};

/** Deeper levels are not indented further but numbered, so that a 20,000-deep tree stays readable and small. */
const MAX_INDENT = 100;

/**
 * Renders spans as a tree of names, two spaces a level, siblings sorted by start. Use it to compare a whole result in a
 * test. A span whose parent is not among `spans` is a root marked `(parent missing)`; below level 100 a line shows its
 * level in brackets instead of more spaces.
 *
 * @example
 * ```ts
 * const [root, collector] = Span.rootWithCollector('GET /query');
 * root.run(() => trace('parse', () => {}));
 * root.end();
 * console.assert(spanTree(await collector.collect()) === 'GET /query\n  parse');
 * ```
 */
export const spanTree = (spans: readonly SpanRecord[]): string => {
  const lines: string[] = [];
  walkTree(spanForest(spans), ({ span, isOrphan }, depth) => {
    const indent = depth <= MAX_INDENT ? '  '.repeat(depth) : `${'  '.repeat(MAX_INDENT)}[${depth}] `;
    lines.push(indent + shortText(span.name) + (isOrphan && !span.hasRemoteParent ? ' (parent missing)' : ''));
    return true;
  });
  return lines.join('\n');
};
