// The axis of time that the ruler, the bars and the lanes share: pixels of a moment, and moments worth a line.
import type { Range } from './use-range.js';

/** Pixels at the right that no time is drawn on. */
const MARGIN = 8;
/** Pixels between two lines at least. */
const TICK_WIDTH = 90;

/** Pixels for names; the rest is time. */
export const labelWidth = (width: number): number => Math.round(Math.min(360, width * 0.4));

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
  const least = TICK_WIDTH / scale;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
  const ticks: number[] = [];
  for (let i = Math.ceil(fromUs / step); i * step <= toUs; i++) ticks.push(i * step);
  return ticks;
};
