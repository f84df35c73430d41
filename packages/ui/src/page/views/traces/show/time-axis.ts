// Which part of a trace is in sight: the spans that are drawn as rows, all but those below a collapsed one; the stretch of time, zoomed and moved,
// never beyond its ends; and the axis that the ruler, the bars and the timelines share: pixels of a moment, and moments worth a line.

import { useState } from 'preact/hooks';
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

/** Microseconds since the trace began. */
export interface Range {
  readonly fromUs: number;
  readonly toUs: number;
}

/** The shortest stretch that one can look at, microseconds. */
const SHORTEST_US = 1;

export interface RangeControl {
  readonly range: Range;
  /** Show so many times as much, with the moment `at` where it is. */
  readonly zoom: (factor: number, at?: number) => void;
  /** Move by a part of what is in sight. */
  readonly pan: (part: number) => void;
  readonly show: (fromUs: number, durationUs: number) => void;
  readonly showAll: () => void;
}

/** The range of a trace that lasts so long. */
export const useRange = (durationUs: number): RangeControl => {
  const [range, setRange] = useState<Range>({ fromUs: 0, toUs: durationUs });
  const set = (fromUs: number, length: number): Range => {
    const kept = Math.min(durationUs, Math.max(SHORTEST_US, length));
    const first = Math.max(0, Math.min(durationUs - kept, fromUs));
    return { fromUs: first, toUs: first + kept };
  };
  return {
    range,
    zoom: (factor, given) =>
      setRange(({ fromUs, toUs }) => {
        const at = given ?? (fromUs + toUs) / 2;
        const length = Math.min(durationUs, Math.max(SHORTEST_US, (toUs - fromUs) * factor));
        return set(at - ((at - fromUs) / (toUs - fromUs)) * length, length);
      }),
    pan: (part) => setRange(({ fromUs, toUs }) => set(fromUs + part * (toUs - fromUs), toUs - fromUs)),
    show: (fromUs, length) => setRange(set(fromUs, length)),
    showAll: () => setRange({ fromUs: 0, toUs: durationUs }),
  };
};

/** Pixels at the right that no time is drawn on. */
const MARGIN = 8;
/** Pixels between two lines at least. */
const TICK_WIDTH = 90;

/** Pixels for names; the rest is time. */
const labelWidth = (width: number): number => Math.round(Math.min(360, width * 0.4));

/** An axis of time on a canvas. */
export interface Axis {
  /** Where time begins. */
  readonly left: number;
  /** Pixels of the time in sight. */
  readonly length: number;
  readonly width: number;
  readonly xOf: (us: number) => number;
  readonly usAt: (x: number) => number;
  /** Pixels a microsecond. */
  readonly scale: number;
}

/** The axis of a range on a canvas of this width. */
export const axisOf = ({ fromUs, toUs }: Range, width: number): Axis => {
  const left = labelWidth(width);
  const length = width - left - MARGIN;
  const scale = length / Math.max(toUs - fromUs, 1e-3);
  return {
    left,
    length,
    width,
    scale,
    xOf: (us) => left + (us - fromUs) * scale,
    usAt: (x) => fromUs + (x - left) / scale,
  };
};

/** Round moments in a range, as many as have room. */
export const ticksOf = ({ fromUs, toUs }: Range, { scale }: Axis): number[] => {
  const min = TICK_WIDTH / scale;
  const power = 10 ** Math.floor(Math.log10(min));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= min) ?? 10);
  const ticks: number[] = [];
  for (let i = Math.ceil(fromUs / step); i * step <= toUs; i++) ticks.push(i * step);
  return ticks;
};
