// The points of the scatter, as numbers in columns, and where they lie: from times and durations to pixels and back. They come in pages that grow, so
// that the newest are drawn at once; a page must only ever be added to the search that it answers. Durations are on a logarithmic scale: a service
// has requests of microseconds and of minutes at once.
import { useEffect, useState } from 'preact/hooks';
import type { PointsAnswer } from '../../../../api/answers.js';
import { get } from '../../../api/client.js';

/** Points drawn. */
export const MAX_POINTS = 100_000;
/** Traces of the first questions. */
const PAGES = [4000, 96_000];
const ID_LENGTH = 32;

/** Traces, the newest first; times in microseconds. */
export interface Points {
  readonly count: number;
  readonly startUs: Float64Array;
  readonly durationUs: Float64Array;
  readonly isError: Uint8Array;
  readonly nameOf: (point: number) => string;
  readonly idOf: (point: number) => string;
}

/** The points of some pages. */
const pointsOf = (pages: readonly PointsAnswer[]): Points => {
  const startUs = Float64Array.from(pages.flatMap((page) => page.startUs));
  const count = startUs.length;
  const placed = (point: number): readonly [page: PointsAnswer, at: number] => {
    let at = point;
    for (const page of pages) {
      if (at < page.startUs.length) return [page, at];
      at -= page.startUs.length;
    }
    throw new RangeError(`there is no point ${point} of ${count}`);
  };
  return {
    count,
    startUs,
    durationUs: Float64Array.from(pages.flatMap((page) => page.durationUs)),
    isError: Uint8Array.from(pages.flatMap((page) => page.isError)),
    nameOf: (point) => {
      const [{ names, name }, at] = placed(point);
      return names[name[at]] ?? '';
    },
    idOf: (point) => {
      const [{ ids }, at] = placed(point);
      return ids.slice(at * ID_LENGTH, (at + 1) * ID_LENGTH);
    },
  };
};

/** The points of a search as far as they have come. */
interface LoadingPoints {
  readonly points: Points;
  readonly isLoading: boolean;
  /** There are more traces, which are not drawn. */
  readonly isCut: boolean;
  readonly error?: Error;
  /** Ask for no more. */
  readonly stop: () => void;
}

const NONE = { points: pointsOf([]), isLoading: true, isCut: false };
const nothing = (): void => undefined;

/** Load the points of a search. */
export const usePoints = (search: Readonly<Record<string, string>>): LoadingPoints => {
  const [state, setState] = useState<LoadingPoints>({ ...NONE, stop: nothing });
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const pages: PointsAnswer[] = [];
    const show = (change: Partial<LoadingPoints>): void => setState((before) => ({ ...before, ...change }));
    const load = async (): Promise<void> => {
      let before: string | undefined;
      for (const limit of PAGES) {
        const page = await get<PointsAnswer>('traces/points', { ...search, limit, before }, signal);
        if (signal.aborted) return;
        pages.push(page);
        before = page.next;
        // It has read as much as one may: to go on is for who looks at it.
        const isEnded = page.endedAtUs !== undefined;
        const isLast = before === undefined || isEnded || limit === PAGES[PAGES.length - 1];
        show({ points: pointsOf(pages), isLoading: !isLast, isCut: before !== undefined || isEnded });
        if (isLast) return;
      }
    };
    const stop = (): void => {
      controller.abort();
      show({ isLoading: false, isCut: true });
    };
    show({ isLoading: true, error: undefined, stop });
    load().catch((error: Error) => {
      if (!signal.aborted) show({ error, isLoading: false });
    });
    return () => controller.abort();
  }, [JSON.stringify(search)]);
  return state;
};

/** Pixels around the plot. */
export const MARGIN = { left: 62, right: 8, top: 8, bottom: 22 } as const;

/** A window of time and duration, whole microseconds, its ends included. */
export interface Window {
  readonly fromUs: number;
  readonly toUs: number;
  readonly shortestUs: number;
  readonly longestUs: number;
}

/** A rectangle in pixels of the canvas. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface Scales {
  readonly width: number;
  readonly height: number;
  readonly fromUs: number;
  readonly toUs: number;
  /** Powers of ten of microseconds. */
  readonly lowest: number;
  readonly highest: number;
  /** Pixels a microsecond of time, and a power of ten of duration. */
  readonly perUs: number;
  readonly perDecade: number;
}

const min = (values: Float64Array, from: number): number => values.reduce((a, b) => (b < a ? b : a), from);
const max = (values: Float64Array, from: number): number => values.reduce((a, b) => (b > a ? b : a), from);

/** Scales on which all points lie. */
export const scalesFor = ({ count, startUs, durationUs }: Points, width: number, height: number): Scales => {
  const [plotWidth, plotHeight] = [width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom];
  if (count === 0)
    return { width, height, fromUs: 0, toUs: 1, lowest: 0, highest: 1, perUs: plotWidth, perDecade: plotHeight };
  const [first, last] = [min(startUs, Number.POSITIVE_INFINITY), max(startUs, 0)];
  const margin = Math.max(1, (last - first) * 0.02);
  const lowest = Math.floor(Math.log10(Math.max(1, min(durationUs, Number.POSITIVE_INFINITY))));
  const highest = Math.max(lowest + 1, Math.ceil(Math.log10(max(durationUs, 1) + 1)));
  const [fromUs, toUs] = [first - margin, last + margin];
  const [perUs, perDecade] = [plotWidth / (toUs - fromUs), plotHeight / (highest - lowest)];
  return { width, height, fromUs, toUs, lowest, highest, perUs, perDecade };
};

export const xOf = (scales: Scales, startUs: number): number => MARGIN.left + (startUs - scales.fromUs) * scales.perUs;

/** What is shorter than a microsecond lies where one does. */
export const yOf = (scales: Scales, durationUs: number): number =>
  scales.height - MARGIN.bottom - (Math.log10(Math.max(1, durationUs)) - scales.lowest) * scales.perDecade;

const timeAt = (scales: Scales, x: number): number => scales.fromUs + (x - MARGIN.left) / scales.perUs;
const durationAt = (scales: Scales, y: number): number =>
  10 ** (scales.lowest + (scales.height - MARGIN.bottom - y) / scales.perDecade);

/** The window that a rectangle covers. */
export const windowIn = (scales: Scales, { left, top, right, bottom }: Box): Window => {
  const isAtBottom = bottom >= scales.height - MARGIN.bottom && scales.lowest === 0;
  return {
    fromUs: Math.max(0, Math.floor(timeAt(scales, left))),
    toUs: Math.max(0, Math.ceil(timeAt(scales, right))),
    shortestUs: isAtBottom ? 0 : Math.floor(durationAt(scales, bottom)),
    longestUs: Math.ceil(durationAt(scales, top)),
  };
};

/** The rectangle of a window, as far as it lies in the plot. */
export const boxOf = (scales: Scales, { fromUs, toUs, shortestUs, longestUs }: Window): Box => ({
  left: Math.max(MARGIN.left, xOf(scales, fromUs)),
  right: Math.min(scales.width - MARGIN.right, xOf(scales, toUs)),
  top: Math.max(MARGIN.top, yOf(scales, longestUs)),
  bottom: Math.min(scales.height - MARGIN.bottom, yOf(scales, shortestUs)),
});

/** As the address has it. */
export const windowText = ({ fromUs, toUs, shortestUs, longestUs }: Window): string =>
  [fromUs, toUs, shortestUs, longestUs].join('-');

/** Undefined for what is not a window. */
export const windowOf = (text: string | undefined): Window | undefined => {
  const [, ...numbers] = /^(\d+)-(\d+)-(\d+)-(\d+)$/.exec(text ?? '') ?? [];
  if (numbers.length === 0) return undefined;
  const [fromUs, toUs, shortestUs, longestUs] = numbers.map(Number);
  return { fromUs, toUs, shortestUs, longestUs };
};

/** Points in a window: as many as the search finds there. */
export const countIn = ({ count, startUs, durationUs }: Points, window: Window): number => {
  let found = 0;
  for (let i = 0; i < count; i++) {
    const isWithin =
      startUs[i] >= window.fromUs &&
      startUs[i] <= window.toUs &&
      durationUs[i] >= window.shortestUs &&
      durationUs[i] <= window.longestUs;
    if (isWithin) found++;
  }
  return found;
};

/** The point nearest to a pixel, when one is as near as `reach` pixels. */
export const pointAt = (points: Points, scales: Scales, x: number, y: number, reach: number): number | undefined => {
  let nearest: number | undefined;
  let distance = reach * reach;
  for (let i = 0; i < points.count; i++) {
    const away = (xOf(scales, points.startUs[i]) - x) ** 2 + (yOf(scales, points.durationUs[i]) - y) ** 2;
    if (away > distance) continue;
    nearest = i;
    distance = away;
  }
  return nearest;
};
