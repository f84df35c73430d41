// Records without a reporter. A trace that a request collects itself, the article's form of collecting, has a store of its own, which goes with its
// handles, whether anybody collects or not; the collector counts it among the open traces and evicts it, and nothing of it may reach a reporter.
//
// Then detached local spans to records: for tests, logs and tools that want them at once.
import { takeAnchor } from '../clock/index.js';
import type { LocalSpans } from '../local-span/local-collector.js';
import type { SpanRecord } from '../record/record.js';
import { Counter, count, countMany, wrongArgument } from '../rows/counters.js';
import { RowStore } from '../rows/row-store.js';
import { TraceWord } from '../rows/trace-table.js';
import type {
  ActiveTrace,
  EndedRoot,
  MountedBatch,
  OpenSpans,
  TraceLimits,
  TraceOutcome,
  TraceSink,
} from '../span/active-trace.js';
import { isContext, localSpansArgument } from '../span/arguments.js';
import type { Sampler } from '../span/sampler.js';
import { SpanContext } from '../span/span-context.js';
import type { TraceLife } from './trace-life.js';
import { takeTraces } from './trace-part.js';

// Rows of a chunk.
const ROWS_OF_ONE = 64;

export class OwnTrace implements TraceSink {
  readonly rows = new RowStore(ROWS_OF_ONE);
  #trace: ActiveTrace | undefined;
  // Among the open traces there.
  #number = -1;
  /** Called when the root has ended, or the trace was dropped. */
  onClosed: (() => void) | undefined;

  constructor(readonly of: TraceLife) {}

  get sampler(): Sampler {
    return this.of.sampler;
  }
  get limits(): TraceLimits {
    return this.of.limits;
  }
  get resource(): unknown {
    return this.of.resource;
  }
  get recordsAll(): boolean {
    return this.of.recordsAll;
  }
  get openSpans(): OpenSpans | null {
    return this.of.openSpans;
  }

  opened(trace: ActiveTrace): void {
    this.#trace = trace;
    this.#number = this.of.openedExternal(trace.context, this);
  }

  ended(trace: ActiveTrace, root: EndedRoot): void {
    this.#close();
    this.of.observer?.ended(trace, root);
    this.onClosed?.();
  }

  cancelled(trace: ActiveTrace): void {
    this.#close();
    count(Counter.tracesCancelled);
    this.of.observer?.cancelled(trace);
    this.#drop(trace, false);
  }

  /** The bounds of the collector have dropped it. */
  evicted(): void {
    this.#number = -1;
    if (this.#trace !== undefined) this.#drop(this.#trace, true);
  }

  grew(_: ActiveTrace, spans: number, bytes: number): void {
    if (this.#number >= 0) this.of.externalGrew(this.#number, spans, bytes);
  }

  outcomeOf(): TraceOutcome {
    return 'dropped';
  }

  returned(): void {}

  /** What has finished, as records; none of it is given again. */
  take(trace: ActiveTrace): SpanRecord[] {
    if (!trace.hasNumber) return [];
    const { number } = trace;
    const anchor = takeAnchor();
    const parts = takeTraces(Int32Array.of(number), { rows: this.rows, anchor });
    this.rows.traces.continues(number, anchor);
    return parts.flatMap(({ spans }) => spans);
  }

  #close(): void {
    if (this.#number >= 0) this.of.closedExternal(this.#number);
    this.#number = -1;
  }

  #drop(trace: ActiveTrace, isShown: boolean): void {
    if (trace.hasNumber) countMany(Counter.spansOfDiscardedTraces, this.rows.traces.get(trace.number, TraceWord.spans));
    trace.discard(isShown);
    this.onClosed?.();
  }
}

/**
 * Turn collected local spans into records, as children of `parent` (a new random trace when left out).
 *
 * @example
 * ```ts
 * const [, spans] = LocalCollector.run(() => LocalSpan.start('parse').end());
 * for (const record of toRecords(spans)) console.log(record.name, record.durationNs);
 * ```
 */
export const toRecords = (spans: LocalSpans, parent?: SpanContext): readonly SpanRecord[] => {
  const context = isContext(parent) ? parent : SpanContext.random();
  if (context !== parent && parent !== undefined && parent !== null) {
    wrongArgument('toRecords(spans, parent) takes a SpanContext for the parent: span.context.');
  }
  const rows = new RowStore();
  const { traces } = rows;
  const number = traces.acquire(context, undefined, 0);
  const { idHi: parentHi, idLo: parentLo } = context;
  for (const batch of localSpansArgument(spans)?.batches ?? []) {
    const { count: spanCount } = batch;
    const mounted: MountedBatch = { batch, count: spanCount, parentHi, parentLo, alsoUnder: null };
    traces.mount(number, mounted);
    traces.grow(number, spanCount, batch.byteSize);
  }
  const [part] = takeTraces(Int32Array.of(number), { rows, anchor: takeAnchor() });
  return part?.spans ?? [];
};
