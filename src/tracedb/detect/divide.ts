// Where a history is cut into stretches, for as long as a cut is significant. It must never give a stretch up because the two parts of it
// that differ most do not differ enough: a change back hides one, so windows of all lengths are searched too.
import { energyCut, energySplit } from './energy-split.js';
import { drawOutliersIn } from './outliers.js';

/** The p-value of a cut, corrected for all places. */
export type Judge = (start: number, index: number, end: number) => number;

/** Shorter windows have no significant cut. */
const SHORTEST_WINDOW = 24;

/** A window begins at each quarter of its length, so that any cut with a window's length around it is near the middle of one. */
const SHIFTS = 4;

/** Above it, at each half: what is found in long windows does not hang on the place of a few values. */
const LONG_WINDOW = 96;

function* windowsOf(start: number, end: number): Generator<readonly [length: number, starts: number[]]> {
  for (let length = SHORTEST_WINDOW; length < end - start; length *= 2) {
    const starts: number[] = [];
    const shift = length > LONG_WINDOW ? length / 2 : length / SHIFTS;
    for (let from = start; from + length < end; from += shift) starts.push(from);
    starts.push(end - length);
    yield [length, starts];
  }
}

/** Cuts of all windows of a history, to choose from. */
export const windowPlaces = (size: number): number => {
  let places = 0;
  for (const [length, starts] of windowsOf(0, size)) places += length * starts.length;
  return places;
};

/** The significant cuts of the shortest windows that have any, best first, none in the window of a better one. */
const cutsInWindows = (
  values: Float64Array,
  start: number,
  end: number,
  minSize: number,
  pValue: number,
  judge: Judge,
): number[] => {
  for (const [length, starts] of windowsOf(start, end)) {
    const found: { from: number; cut: number; p: number }[] = [];
    for (const from of starts) {
      const split = energyCut(drawOutliersIn(values.subarray(from, from + length)), minSize);
      if (split === null) continue;
      const cut = from + split.index;
      const p = judge(from, cut, from + length);
      if (p <= pValue) found.push({ from, cut, p });
    }
    found.sort((a, b) => a.p - b.p);
    const kept: typeof found = [];
    for (const one of found) if (!kept.some(({ from }) => Math.abs(from - one.from) < length)) kept.push(one);
    if (kept.length > 0) return kept.map(({ cut }) => cut);
  }
  return [];
};

/** Cuts the history into stretches for as long as a cut is significant; the cuts in order. */
export const divide = (values: Float64Array, minSize: number, pValue: number, judge: Judge): number[] => {
  const cuts: number[] = [];
  const stretches: [start: number, end: number][] = [[0, values.length]];
  for (let stretch = stretches.pop(); stretch; stretch = stretches.pop()) {
    const [start, end] = stretch;
    const split = energySplit(drawOutliersIn(values.subarray(start, end)), minSize);
    if (split === null) continue;
    const isCut = judge(start, start + split.index, start + split.until) <= pValue;
    const found = isCut ? [start + split.index] : cutsInWindows(values, start, end, minSize, pValue, judge);
    if (found.length === 0) continue;
    cuts.push(...found);
    const ends = [start, ...found.sort((a, b) => a - b), end];
    for (let i = 1; i < ends.length; i++) stretches.push([ends[i - 1], ends[i]]);
  }
  return cuts.sort((a, b) => a - b);
};
