// Where each node of a flame graph lies: left to right by weight, callers above. Pure numbers, laid out once; drawing and pointing only look
// them up, so that they cost what is visible and not what there is.
import type { FlameColumns } from '../../../api/profiles/answers.js';

/** Part of a flame graph from left to right, 0 to 1. */
export interface Extent {
  readonly from: number;
  readonly to: number;
}

/** A laid out flame graph. Rows are those of its columns. */
export interface FlameLayout {
  readonly columns: FlameColumns;
  /** Left edge and width of each row, as parts of the whole. */
  readonly left: Float64Array;
  readonly width: Float64Array;
  readonly depth: Uint16Array;
  /** Rows of each depth, from left to right. */
  readonly levels: readonly Uint32Array[];
}

/** Of two profiles both count for the same, whatever their length: what vanished has a width too. */
const weightsOf = ({ total, before }: FlameColumns): Float64Array => {
  if (before === undefined) return Float64Array.from(total);
  const [whole, wholeBefore] = [total[0] || 1, before[0] || 1];
  return Float64Array.from(total, (ns, row) => ns / whole + before[row] / wholeBefore);
};

/** Children of every row, heaviest first. */
const childrenOf = ({ parent }: FlameColumns, weights: Float64Array): number[][] => {
  const children: number[][] = parent.map(() => []);
  for (let row = 1; row < parent.length; row++) children[parent[row]].push(row);
  for (const rows of children) rows.sort((a, b) => weights[b] - weights[a]);
  return children;
};

/** Lay out a flame graph. */
export const layOut = (columns: FlameColumns): FlameLayout => {
  const count = columns.frame.length;
  const weights = weightsOf(columns);
  const whole = weights[0] || 1;
  const left = new Float64Array(count);
  const width = Float64Array.from(weights, (weight) => weight / whole);
  const depth = new Uint16Array(count);
  const levels: Uint32Array[] = [];
  const children = childrenOf(columns, weights);
  for (let level = [0]; level.length > 0; ) {
    levels.push(Uint32Array.from(level));
    const below: number[] = [];
    for (const row of level) {
      let at = left[row];
      for (const child of children[row]) {
        left[child] = at;
        depth[child] = depth[row] + 1;
        at += width[child];
        below.push(child);
      }
    }
    level = below;
  }
  return { columns, left, width, depth, levels };
};

/** Index in a level of the last row that begins at or before a place; 0 when all begin behind it. */
export const indexAt = ({ levels, left }: FlameLayout, depth: number, at: number): number => {
  const level = levels[depth];
  let low = 0;
  let high = level.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (left[level[middle]] <= at) low = middle;
    else high = middle - 1;
  }
  return low;
};

/** The row at a place, or undefined where there is none. */
export const rowAt = (layout: FlameLayout, depth: number, at: number): number | undefined => {
  if (layout.levels[depth] === undefined) return undefined;
  const row = layout.levels[depth][indexAt(layout, depth, at)];
  return at >= layout.left[row] && at < layout.left[row] + layout.width[row] ? row : undefined;
};

/** What a row covers from left to right. */
export const extentOf = ({ left, width }: FlameLayout, row: number): Extent => ({
  from: left[row],
  to: left[row] + width[row],
});

/** A direction of the arrow keys. */
export type Step = 'up' | 'down' | 'left' | 'right';

/** The row that an arrow key goes to from another one; the same at an edge. Down is the heaviest callee. */
export const stepFrom = (layout: FlameLayout, row: number, step: Step): number => {
  const { columns, depth, left, levels } = layout;
  if (step === 'up') return Math.max(0, columns.parent[row]);
  if (step === 'down') {
    const below = rowAt(layout, depth[row] + 1, left[row]);
    return below !== undefined && columns.parent[below] === row ? below : row;
  }
  const level = levels[depth[row]];
  return level[level.indexOf(row) + (step === 'left' ? -1 : 1)] ?? row;
};

/** A function in all of a flame graph. */
interface FunctionSum {
  readonly frame: number;
  readonly selfNs: number;
  /** With what it called; time under a recursion counts once. */
  readonly totalNs: number;
}

/** Functions by the time that they took themselves. */
export const functionSums = ({ frame, parent, self, total, names }: FlameColumns): FunctionSum[] => {
  const selfNs = new Float64Array(names.length);
  const totalNs = new Float64Array(names.length);
  for (let row = 1; row < frame.length; row++) {
    selfNs[frame[row]] += self[row];
    let above = parent[row];
    while (above > 0 && frame[above] !== frame[row]) above = parent[above];
    if (above <= 0) totalNs[frame[row]] += total[row];
  }
  return names
    .map((_, index) => ({ frame: index, selfNs: selfNs[index], totalNs: totalNs[index] }))
    .slice(1)
    .sort((a, b) => b.selfNs - a.selfNs || b.totalNs - a.totalNs);
};

/** Which functions have a text in their name or place, and the share of all time under them; undefined without a text. */
export const findFunctions = (
  { columns }: FlameLayout,
  text: string,
): { readonly isFound: Uint8Array; readonly share: number } | undefined => {
  if (text === '') return undefined;
  const { names, places, frame, parent, total } = columns;
  const wanted = text.toLowerCase();
  const isFound = Uint8Array.from(names, (name, index) =>
    index > 0 && (name.toLowerCase().includes(wanted) || places[index].toLowerCase().includes(wanted)) ? 1 : 0,
  );
  // A parent stands before its children: whether one above was found is known.
  const isUnder = new Uint8Array(frame.length);
  let ns = 0;
  for (let row = 1; row < frame.length; row++) {
    const above = isUnder[parent[row]];
    isUnder[row] = above | isFound[frame[row]];
    if (above === 0 && isUnder[row] === 1) ns += total[row];
  }
  return { isFound, share: total[0] === 0 ? 0 : ns / total[0] };
};
