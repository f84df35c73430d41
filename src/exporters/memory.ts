// Keeps finished traces for tests to look at. It must not grow past its bound, nor hand out what a later report changes.
export { spanTree } from '../formats/terminal/trace-tree.js';

import { wrongOption } from '../base/errors.js';
import { getOrMake } from '../base/maps/maps.js';
import { anyNumber } from '../base/options/checks.js';
import { checkNames } from '../collector/options.js';
import type { ReportBatch, Reporter, Resource } from '../collector/reporter.js';
import { spanTree } from '../formats/terminal/trace-tree.js';
import type { SpanRecord } from '../record/record.js';

/** Options of {@link MemoryReporter}. */
export interface MemoryReporterOptions {
  /** Spans kept at most; beyond, the oldest traces are dropped and counted. 100,000 by default. */
  readonly maxSpans?: number;
}

/** A trace in memory: everything reported of it so far. */
export interface MemoryTrace {
  readonly traceId: string;
  /** In the order they were reported: the root first, late spans last; with `reportOpenTraces` the root in its turn. */
  readonly spans: readonly SpanRecord[];
  /** Of the first report of this trace. */
  readonly resource: Resource;
}

type KeptTrace = MemoryTrace & { readonly spans: SpanRecord[] };

/**
 * Keeps finished traces in memory. Use it in tests: flush, then compare {@link MemoryReporter.tree} with the tree you
 * expect. Throws `ERR_SPANLINE_OPTION` when an option is wrong.
 *
 * @example
 * ```ts
 * const memory = new MemoryReporter();
 * setReporter(memory);
 * const root = Span.root('GET /query');
 * root.run(() => trace('parse', () => {}));
 * root.end();
 * await flush();
 * console.assert(memory.tree() === 'GET /query\n  parse');
 * ```
 */
export class MemoryReporter implements Reporter {
  readonly name = 'memory';
  /** @internal */
  readonly keepsNoTrace = true;
  readonly maxSpans: number;
  /** Oldest first. */
  readonly #traces = new Map<string, KeptTrace>();
  readonly #counts = { batches: 0, droppedSpans: 0, droppedTraces: 0, spans: 0 };

  constructor(options: MemoryReporterOptions = {}) {
    checkNames(options, ['maxSpans']);
    const { maxSpans = 100_000 } = options;
    this.maxSpans = anyNumber('Option "maxSpans"', maxSpans, [1], wrongOption);
  }

  report(batch: ReportBatch): void {
    this.reportSync(batch);
  }

  reportSync(batch: ReportBatch): void {
    this.#counts.batches++;
    for (const { traceId, spans } of batch.traces) this.#keep(traceId, spans, batch.resource);
  }

  /** All traces, the oldest first. Spans reported late are with their trace. */
  get traces(): readonly MemoryTrace[] {
    return Array.from(this.#traces.values(), (trace) => ({ ...trace, spans: [...trace.spans] }));
  }

  /** All spans of all traces. */
  get spans(): readonly SpanRecord[] {
    return this.traces.flatMap((trace) => trace.spans);
  }

  /** The first span of this name, or undefined. */
  find(name: string): SpanRecord | undefined {
    for (const { spans } of this.#traces.values()) {
      const found = spans.find((span) => span.name === name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** All traces as one text tree of names; see `spanTree`. */
  tree(): string {
    return this.traces.map((trace) => spanTree(trace.spans)).join('\n');
  }

  /** Forgets the traces; the counters stay. */
  clear(): void {
    this.#traces.clear();
    this.#counts.spans = 0;
  }

  stats(): Readonly<Record<string, number>> {
    return { ...this.#counts, traces: this.#traces.size };
  }

  #keep(traceId: string, spans: readonly SpanRecord[], resource: Resource): void {
    const kept: KeptTrace = getOrMake(this.#traces, traceId, () => ({ traceId, spans: [], resource }));
    for (const span of spans) kept.spans.push(span);
    this.#counts.spans += spans.length;
    for (const oldest of this.#traces.values()) {
      if (this.#counts.spans <= this.maxSpans) return;
      this.#traces.delete(oldest.traceId);
      this.#counts.spans -= oldest.spans.length;
      this.#counts.droppedSpans += oldest.spans.length;
      this.#counts.droppedTraces++;
    }
  }
}
