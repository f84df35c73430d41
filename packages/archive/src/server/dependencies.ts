// Which services call which: counted from the spans of a stretch of time whenever somebody asks, as nothing of it is kept.

import { getOrMake } from 'spanline/internal/base';
import { shownService } from 'spanline/internal/formats';
import type { ArchivedSpan } from 'spanline/internal/record';
import { loadTraces } from './load-traces.js';
import type { ArchiveReader, ReadOptions } from './ports.js';

/** Traces looked at, the newest; as many as one search gives. */
const MAX_TRACES = 100_000;

/** Spans of one service whose parents are of another, or of the same. */
export interface Dependency {
  readonly parent: string;
  readonly child: string;
  readonly callCount: number;
}

const nameOf = ({ resource }: ArchivedSpan): string => shownService(resource.properties);

/** The calls in all traces that begin and end within the time, both in Unix nanoseconds. */
export const dependenciesOf = async (
  archive: ArchiveReader,
  fromUnixNs: bigint,
  toUnixNs: bigint,
  options: ReadOptions,
): Promise<Dependency[]> => {
  const counts = new Map<string, Map<string, number>>();
  if (toUnixNs < 0n || toUnixNs < fromUnixNs) return [];
  const found = await archive.search({ fromUnixNs, toUnixNs, limit: MAX_TRACES }, options);
  const inside = found.filter(
    ({ startUnixNs, durationNs }) => startUnixNs > fromUnixNs && startUnixNs + durationNs < toUnixNs,
  );
  for await (const [, spans] of loadTraces(archive, inside, options)) {
    const names = new Map(spans.map((span) => [span.spanId, nameOf(span)]));
    for (const span of spans) {
      const parent = span.parentSpanId === '' ? undefined : names.get(span.parentSpanId);
      if (parent === undefined) continue;
      const children = getOrMake(counts, parent, () => new Map<string, number>());
      children.set(nameOf(span), (children.get(nameOf(span)) ?? 0) + 1);
    }
  }
  return [...counts].flatMap(([parent, children]) =>
    [...children].map(([child, callCount]) => ({ parent, child, callCount })),
  );
};
