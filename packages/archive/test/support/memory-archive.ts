// An archive in memory, simple enough to be right: what the server's tests hold its answers to.

import type { ArchivedProperties, ArchivedSpan, ArchivedValue } from '../../../../src/record/archived-span.js';
import type { ArchiveReader, ArchiveWriter } from '../../src/server/ports.js';
import type { TraceSearch, TraceSummary } from '../../src/trace-search.js';
import type { Operation } from '../../src/trace-source.js';

export const serviceOf = ({ resource }: ArchivedSpan): string => String(resource.properties['service.name'] ?? '');

const textOf = (properties: ArchivedProperties, key: string): string | undefined =>
  Object.hasOwn(properties, key) ? String(properties[key] as ArchivedValue) : undefined;

/** Everything that a span says under a key. */
const textsOf = (span: ArchivedSpan, key: string): readonly (string | undefined)[] => [
  ...[span.properties, span.resource.properties, span.scope.properties].map((properties) => textOf(properties, key)),
  ...span.events.map(({ properties }) => textOf(properties, key)),
  key === 'span.kind' && span.kind !== 'unspecified' ? span.kind : undefined,
  key === 'otel.status_code' && span.status.code !== 'unset' ? span.status.code.toUpperCase() : undefined,
  key === 'otel.scope.name' ? span.scope.name : undefined,
  key === 'error' ? String(span.status.code === 'error') : undefined,
];

const matches = (span: ArchivedSpan, search: TraceSearch): boolean => {
  const { service, name, status, properties = {} } = search;
  const duration = span.endUnixNs - span.startUnixNs;
  return (
    (service === undefined || serviceOf(span) === service) &&
    (name === undefined || span.name === name) &&
    (status === undefined || span.status.code === status) &&
    duration >= (search.minSpanDurationNs ?? 0n) &&
    duration <= (search.maxSpanDurationNs ?? duration) &&
    span.startUnixNs >= (search.spanFromUnixNs ?? 0n) &&
    span.startUnixNs <= (search.spanToUnixNs ?? span.startUnixNs) &&
    Object.entries(properties).every(([key, value]) => textsOf(span, key).includes(value))
  );
};

const summaryOf = (traceId: string, spans: readonly ArchivedSpan[]): TraceSummary => {
  const sorted = [...spans].sort((a, b) => (a.startUnixNs < b.startUnixNs ? -1 : 1));
  const root = spans.find(({ parentSpanId }) => parentSpanId === '') ?? sorted[0];
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const end = spans.reduce((latest, { endUnixNs }) => (endUnixNs > latest ? endUnixNs : latest), 0n);
  return {
    traceId,
    name: root.name,
    service: serviceOf(root),
    startUnixNs: sorted[0].startUnixNs,
    durationNs: end - sorted[0].startUnixNs,
    spanCount: spans.length,
    errorCount: spans.filter(({ status }) => status.code === 'error').length,
    bytes: spans.length * 300,
    isComplete: spans.every(({ parentSpanId }) => parentSpanId === '' || ids.has(parentSpanId)),
  };
};

export class MemoryArchive implements ArchiveReader, ArchiveWriter {
  readonly buffered = new Map<string, ArchivedSpan[]>();
  /** Spans it can hold. */
  room = Number.POSITIVE_INFINITY;
  flushes = 0;
  /** Called before every read, which waits for it. */
  beforeRead: (signal?: AbortSignal) => Promise<void> = async () => {};
  /** Called by every flush. */
  onFlush: () => Promise<void> = async () => {};

  append(spans: readonly ArchivedSpan[]): number {
    const taken = spans.slice(0, this.room);
    this.room -= taken.length;
    for (const span of taken) {
      const trace = this.buffered.get(span.traceId);
      if (trace === undefined) this.buffered.set(span.traceId, [span]);
      else trace.push(span);
    }
    return taken.length;
  }

  async flush(): Promise<void> {
    this.flushes++;
    await this.onFlush();
  }

  async traces(ids: readonly string[], { signal }: { signal?: AbortSignal } = {}) {
    await this.beforeRead(signal);
    return new Map(ids.flatMap((id) => (this.buffered.has(id) ? [[id, this.buffered.get(id) as ArchivedSpan[]]] : [])));
  }

  async search(search: TraceSearch, { signal }: { signal?: AbortSignal } = {}): Promise<TraceSummary[]> {
    await this.beforeRead(signal);
    const { fromUnixNs, toUnixNs, minDurationNs, maxDurationNs, limit = 20 } = search;
    return [...this.buffered]
      .filter(([, spans]) => spans.some((span) => matches(span, search)))
      .map(([traceId, spans]) => summaryOf(traceId, spans))
      .filter(
        ({ startUnixNs, durationNs }) =>
          (fromUnixNs === undefined || startUnixNs + durationNs >= fromUnixNs) &&
          (toUnixNs === undefined || startUnixNs <= toUnixNs) &&
          (minDurationNs === undefined || durationNs >= minDurationNs) &&
          (maxDurationNs === undefined || durationNs <= maxDurationNs),
      )
      .sort((a, b) => (a.startUnixNs > b.startUnixNs ? -1 : 1))
      .slice(0, limit);
  }

  async services({ signal }: { signal?: AbortSignal } = {}): Promise<string[]> {
    await this.beforeRead(signal);
    return [...new Set(this.all.map(serviceOf))].sort();
  }

  async operations(service: string, { signal }: { signal?: AbortSignal } = {}): Promise<Operation[]> {
    await this.beforeRead(signal);
    const found = new Map<string, Operation>();
    for (const span of this.all) {
      if (serviceOf(span) === service) found.set(`${span.kind} ${span.name}`, { name: span.name, kind: span.kind });
    }
    return [...found.values()];
  }

  get all(): ArchivedSpan[] {
    return [...this.buffered.values()].flat();
  }
}
