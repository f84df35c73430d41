// The CPU time of the spans of a trace, where profiles were taken meanwhile.
import { useMemo } from 'preact/hooks';
import type { TraceCpu } from '../../../../api/profiles/answers.js';
import { get } from '../../../api/client.js';
import { useRequest } from '../../../api/use-request.js';

export type SpanCpu = TraceCpu['spans'][number];

/** What profiles say of a trace. */
export interface CpuOfTrace {
  /** By place of the span; of that span itself, without its children. */
  readonly bySpan: ReadonlyMap<number, SpanCpu>;
  readonly totalNs: number;
  readonly error?: Error;
}

/** Undefined while it is not known, and where no profile has a sample of the trace. */
export const useCpu = (
  traceId: string,
  places: ReadonlyMap<string, number>,
  hasProfiles: boolean,
): CpuOfTrace | undefined => {
  const { value, error } = useRequest(hasProfiles ? traceId : undefined, (signal) =>
    get<TraceCpu>('profiles/of-trace', { id: traceId }, signal),
  );
  return useMemo(() => {
    if (error !== undefined) return { bySpan: new Map(), totalNs: 0, error };
    if (value === undefined || value.profiles.length === 0) return undefined;
    const bySpan = new Map<number, SpanCpu>();
    for (const span of value.spans) {
      const place = places.get(span.spanId);
      if (place !== undefined) bySpan.set(place, span);
    }
    return { bySpan, totalNs: value.profiles.reduce((sum, { cpuNs }) => sum + cpuNs, 0) };
  }, [value, error, places]);
};
