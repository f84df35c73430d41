// Which spans of a trace are drawn as rows: all but those below a collapsed one. Knows nothing of pixels.
import type { TraceColumns } from '../../../../api/trace/answers.js';

/** Depth of each span below its root. */
export const depthsOf = ({ parent }: TraceColumns): Int32Array => {
  const depths = new Int32Array(parent.length);
  // A parent stands before its children.
  for (let i = 0; i < parent.length; i++) depths[i] = parent[i] < 0 ? 0 : depths[parent[i]] + 1;
  return depths;
};

/** Spans that have children. */
export const parentsIn = ({ parent }: TraceColumns): Uint8Array => {
  const has = new Uint8Array(parent.length);
  for (const place of parent) if (place >= 0) has[place] = 1;
  return has;
};

/** Places of the spans that are shown, in order. */
export const visibleRows = ({ parent }: TraceColumns, collapsed: ReadonlySet<number>): Int32Array => {
  const hidden = new Uint8Array(parent.length);
  const rows = new Int32Array(parent.length);
  let count = 0;
  for (let i = 0; i < parent.length; i++) {
    const above = parent[i];
    if (above >= 0 && (hidden[above] === 1 || collapsed.has(above))) hidden[i] = 1;
    else rows[count++] = i;
  }
  return rows.subarray(0, count);
};

/** Everything above a span, to be opened when it is looked for. */
export const ancestorsOf = ({ parent }: TraceColumns, place: number): number[] => {
  const above: number[] = [];
  for (let i = parent[place]; i >= 0; i = parent[i]) above.push(i);
  return above;
};
