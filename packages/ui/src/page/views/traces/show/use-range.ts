// Which stretch of a trace is in sight: zoomed and moved, never beyond its ends.
import { useState } from 'preact/hooks';

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
