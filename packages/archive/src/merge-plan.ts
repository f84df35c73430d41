// Which segments are merged next, by their sizes and times alone: the same in a directory and in a bucket. Few bytes may be written more than a few times,
// and no segment grow so long or large that it could not be sorted in memory or would be kept far beyond its age.
import type { Retention } from './archive-options.js';
import type { SegmentName } from './directory.js';

/** What is merged. */
export interface MergePolicy {
  /** Spans of a merged segment at most. */
  readonly mergedSpans: number;
  /** Segments merged at once at least. */
  readonly minSegments: number;
  /** The largest of them has this share of their spans at most: a large one is not written again for every small one. */
  readonly largestShare: number;
  /** The same where one of them is unsorted: all of these spans are in memory as rows, in a process that has other work. */
  readonly sortedSpans: number;
  /** Milliseconds a merged segment may span: a long one would be kept long beyond its age. */
  readonly maxSpanMs: number;
}

/** In the background: few bytes are written more than a few times. */
export const BACKGROUND_MERGES = { minSegments: 4, largestShare: 0.5, sortedSpans: 100_000 } as const;
/** When somebody asks: whatever can be merged. */
export const ALL_MERGES = { minSegments: 2, largestShare: 1, sortedSpans: Number.POSITIVE_INFINITY } as const;

/** Segments merged at once at most. */
const MAX_SEGMENTS = 64;
/** Merged segments span at most this share of the age at which they are deleted. */
const AGE_SHARE = 8;

/** How long a merged segment may be. */
export const longestSpanMs = ({ maxAgeMs }: Retention): number =>
  maxAgeMs === undefined ? Number.POSITIVE_INFINITY : maxAgeMs / AGE_SHARE;

/** A segment that may be merged. */
export interface MergeCandidate {
  readonly file: SegmentName;
  readonly spans: number;
  /** Unix milliseconds from which on, and until which, its age counts, where that is not the time of its spans. */
  readonly agesMs?: readonly [first: number, last: number];
  /** An unsorted one that is not sorted alone: it waits for others. Default false. */
  readonly waits?: boolean;
}

/** What is merged next; nothing when there are no names. */
export interface Merge {
  readonly names: readonly string[];
  /** How many they have together. */
  readonly spans: number;
}

/**
 * Segments to be merged of some, the one that ends last first: neighbours in time, the newest first; else one that is unsorted, the oldest first,
 * which becomes a sorted one of itself.
 */
export const chooseMerge = (candidates: readonly MergeCandidate[], policy: MergePolicy): Merge => {
  for (let first = 0; first < candidates.length; first++) {
    let total = 0;
    let largest = 0;
    let startMs = Number.POSITIVE_INFINITY;
    let ages: readonly [number, number] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    let limit = policy.mergedSpans;
    let best = first;
    let bestSpans = 0;
    for (let end = first; end < Math.min(candidates.length, first + MAX_SEGMENTS); end++) {
      const { file, spans, agesMs = [file.startMs, file.endMs] } = candidates[end];
      total += spans;
      largest = Math.max(largest, spans);
      startMs = Math.min(startMs, file.startMs);
      ages = [Math.min(ages[0], agesMs[0]), Math.max(ages[1], agesMs[1])];
      if (!file.isSorted) limit = Math.min(limit, policy.sortedSpans);
      const spanMs = Math.max(candidates[first].file.endMs - startMs, ages[1] - ages[0]);
      if (total > limit || spanMs > policy.maxSpanMs) break;
      const count = end - first + 1;
      if (count >= policy.minSegments && largest <= total * policy.largestShare) {
        best = end + 1;
        bestSpans = total;
      }
    }
    if (best > first) return { names: candidates.slice(first, best).map(({ file }) => file.name), spans: bestSpans };
  }
  const unsorted = candidates.findLast(({ file, waits = false }) => !(file.isSorted || waits));
  return unsorted === undefined ? { names: [], spans: 0 } : { names: [unsorted.file.name], spans: unsorted.spans };
};
