// The points of the scatter, as numbers in columns. They come in pages that grow, so that the newest are drawn at once; a page must only ever be added
// to the search that it answers.
import { useEffect, useState } from 'preact/hooks';
import type { PointsAnswer } from '../../../../api/traces/answers.js';
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

const joined = <T extends Float64Array | Uint8Array>(parts: readonly ArrayLike<number>[], all: T): T => {
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};

/** The points of some pages. */
export const pointsOf = (pages: readonly PointsAnswer[]): Points => {
  const count = pages.reduce((sum, { startUs }) => sum + startUs.length, 0);
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
    startUs: joined(
      pages.map(({ startUs }) => startUs),
      new Float64Array(count),
    ),
    durationUs: joined(
      pages.map(({ durationUs }) => durationUs),
      new Float64Array(count),
    ),
    isError: joined(
      pages.map(({ isError }) => isError),
      new Uint8Array(count),
    ),
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
export interface LoadingPoints {
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
        const isLast = before === undefined || limit === PAGES[PAGES.length - 1];
        show({ points: pointsOf(pages), isLoading: !isLast, isCut: before !== undefined });
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
