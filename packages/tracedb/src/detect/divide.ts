// Where a history is cut into stretches, for as long as a cut is significant. It must never give a stretch up because the two parts of it
// that differ most do not differ enough, and must cut a history read backwards at the same places.
import { type EnergySplit, energySplit } from './energy-split.js';
import { differsIndependently } from './independent-sides.js';
import { nearCuts } from './near-cuts.js';
import { drawOutliersIn } from './outliers.js';
import { sharesCut } from './shares-above.js';

/** The p-value of a cut, corrected for all places. */
export type Judge = (start: number, index: number, end: number) => number;

/** Largest relative difference of two p-values that are one, but for rounding. */
const ROUNDING = 1e-9;

interface Found {
  readonly cut: number;
  readonly p: number;
  /** Room between the values on both sides: what is left where the least of one side is above all of the other. */
  readonly gap: number;
}

const gapAt = (values: Float64Array, cut: number, side: number): number => {
  let [min, max] = [values[cut], values[cut]];
  let [minBefore, maxBefore] = [values[cut - 1], values[cut - 1]];
  for (let i = 1; i < side; i++) {
    min = Math.min(min, values[cut + i]);
    max = Math.max(max, values[cut + i]);
    minBefore = Math.min(minBefore, values[cut - 1 - i]);
    maxBefore = Math.max(maxBefore, values[cut - 1 - i]);
  }
  return Math.max(min - maxBefore, minBefore - max);
};

/** Wherever all values of one side are larger, p is the same: the gap must decide, not the last digit. */
const isTie = (p: number, other: number): boolean => Math.abs(p - other) <= ROUNDING * Math.max(p, other);

/** The significant cuts of the shortest windows that show them, none in the window of a better one. */
const cutsNearby = (values: Float64Array, minSize: number, pValue: number, judge: Judge): number[] => {
  const cuts: number[] = [];
  for (const places of nearCuts(values)) {
    const found: Found[] = [];
    let reach = 0;
    for (const { cut, side } of places) {
      reach = side;
      if (side < minSize || cuts.some((one) => Math.abs(one - cut) < side)) continue;
      const p = judge(cut - side, cut, cut + side);
      if (p <= pValue) found.push({ cut, p, gap: gapAt(values, cut, side) });
    }
    found.sort((a, b) => (isTie(a.p, b.p) ? b.gap - a.gap : a.p - b.p));
    for (const { cut } of found) if (!cuts.some((one) => Math.abs(one - cut) < reach)) cuts.push(cut);
  }
  return cuts.sort((a, b) => a - b);
};

interface Split {
  readonly from: number;
  readonly index: number;
  readonly until: number;
}

/** The two neighbouring parts of a stretch that differ most, one of which reaches to an end of it. */
const bestSplit = (values: Float64Array, minSize: number): Split | null => {
  const ahead: EnergySplit | null = energySplit(values, minSize);
  const back = energySplit(values.toReversed(), minSize);
  if (ahead !== null && (back === null || ahead.q >= back.q)) return { from: 0, ...ahead };
  if (back === null) return null;
  const size = values.length;
  return { from: size - back.until, index: size - back.index, until: size };
};

/** A cut of a stretch that is significant: where its parts differ most by the energy statistic, or else where shares above a level do. */
const significantCut = (
  values: Float64Array,
  [start, end]: readonly [start: number, end: number],
  minSize: number,
  pValue: number,
  judge: Judge,
): number | null => {
  const drawnIn = drawOutliersIn(values.subarray(start, end));
  const split = bestSplit(drawnIn, minSize);
  if (split === null) return null;
  const cut = start + split.index;
  if (judge(start + split.from, cut, start + split.until) <= pValue) return cut;
  const other = sharesCut(drawnIn, minSize);
  if (other === null || !differsIndependently(values, start + other)) return null;
  return judge(start, start + other, end) <= pValue ? start + other : null;
};

/** Cuts the history into stretches for as long as a cut is significant; the cuts in order. */
export const divide = (values: Float64Array, minSize: number, pValue: number, judge: Judge): number[] => {
  const cuts = cutsNearby(values, minSize, pValue, judge);
  const ends = [0, ...cuts, values.length];
  const stretches = cuts.concat(values.length).map((end, i) => [ends[i], end] as const);
  for (let stretch = stretches.pop(); stretch; stretch = stretches.pop()) {
    const [start, end] = stretch;
    const cut = significantCut(values, stretch, minSize, pValue, judge);
    if (cut === null) continue;
    cuts.push(cut);
    stretches.push([start, cut], [cut, end]);
  }
  return cuts.sort((a, b) => a - b);
};
