// The life of traces against a plain reference: whatever starts, ends, comes late, is cancelled, evicted, reported, refused, wanted by a trigger or shut
// down, in any order and with small bounds, every sum, counter and delivery is what the reference has. It knows nothing of numbers or rows.
import { expect, test } from 'vitest';
import type { TraceObserver } from '../../src/collector/trace-part.js';
import { Collector, ReportError, Span, SpanContext, stats } from '../../src/index.js';
import { NO_SLOT, ROW_BYTES } from '../../src/rows/row-chunk.js';
import { internedName } from '../../src/rows/row-text.js';
import { TRACE_BYTES, TraceBit } from '../../src/rows/trace-table.js';
import fc from '../support/fast-check.js';
import { useOwnNames } from '../support/names.js';
import { observerWith } from '../support/observer.js';
import { samples } from '../support/samples.js';

// The bytes of a span depend on whether its name has a number.
useOwnNames();

/** A call, with numbers that choose among what is there at that time. */
type Op =
  | { readonly op: 'root'; readonly sampled: boolean; readonly isSlow: boolean; readonly isBoring: boolean }
  | { readonly op: 'child' | 'endChild' | 'endRoot' | 'cancel'; readonly at: number }
  | { readonly op: 'report' | 'fail' | 'shutdown' | 'setReporter' };

const at = fc.nat(30);
const ops: fc.Arbitrary<Op[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        op: fc.constant('root' as const),
        sampled: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
        isSlow: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
        isBoring: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
      }),
    },
    { weight: 6, arbitrary: fc.record({ op: fc.constant('child' as const), at }) },
    { weight: 6, arbitrary: fc.record({ op: fc.constant('endChild' as const), at }) },
    { weight: 4, arbitrary: fc.record({ op: fc.constant('endRoot' as const), at }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('cancel' as const), at }) },
    { weight: 3, arbitrary: fc.constant<Op>({ op: 'report' }) },
    { weight: 1, arbitrary: fc.constantFrom<Op>({ op: 'fail' }, { op: 'shutdown' }, { op: 'setReporter' }) },
  ),
  { maxLength: 70, size: 'max' },
);

const settings = fc.record({
  maxOpenTraces: fc.integer({ min: 1, max: 5 }),
  maxOpenBytes: fc.integer({ min: TRACE_BYTES, max: 6 * TRACE_BYTES }),
  maxQueuedBytes: fc.integer({ min: TRACE_BYTES, max: 6 * TRACE_BYTES }),
  reportOpenTraces: fc.boolean(),
  hasKeep: fc.boolean(),
  hasObserver: fc.boolean(),
});
type Settings = typeof settings extends fc.Arbitrary<infer T> ? T : never;

interface ModelTrace {
  readonly name: string;
  sampled: boolean;
  readonly isSlow: boolean;
  readonly isBoring: boolean;
  where: 'open' | 'queued' | 'observed' | 'nowhere';
  isEnded: boolean;
  isCancelled: boolean;
  isDropped: boolean;
  hadSpans: boolean;
  isContinuation: boolean;
  mustReport: boolean;
  pending: string[];
}

/** What becomes of traces, as the documentation says it. */
class Model {
  readonly traces: ModelTrace[] = [];
  open: ModelTrace[] = [];
  queued: ModelTrace[] = [];
  observed: ModelTrace[] = [];
  /** `trace: spans` of each part, and what the observer must have. */
  readonly delivered: string[] = [];
  readonly seen: string[] = [];
  readonly counts = {
    tracesEvicted: 0,
    tracesCancelled: 0,
    tracesNotKept: 0,
    spansOfDiscardedTraces: 0,
    spansLate: 0,
    droppedTracesBeforeReporter: 0,
    droppedSpansBeforeReporter: 0,
    droppedTracesQueueFull: 0,
    droppedSpansQueueFull: 0,
    droppedSpansAfterShutdown: 0,
  };
  hasReporter = true;
  isShutDown = false;
  fails = false;

  constructor(readonly settings: Settings) {}

  bytes(traces: readonly ModelTrace[]): number {
    return traces.reduce((sum, { pending }) => sum + TRACE_BYTES + pending.length * ROW_BYTES, 0);
  }

  start(trace: ModelTrace): void {
    this.traces.push(trace);
    this.open.push(trace);
    if (this.open.length > this.settings.maxOpenTraces) this.evict();
    this.wake();
  }

  /** A span of it ends. */
  add(trace: ModelTrace, span: string): void {
    if (this.isOver(trace)) {
      this.counts.spansOfDiscardedTraces++;
      return;
    }
    this.seen.push(`${trace.name}: ${span}`);
    if (trace.where === 'nowhere' && trace.hadSpans) trace.isContinuation = true;
    trace.hadSpans = true;
    trace.pending.push(span);
    if (trace.isDropped) this.counts.spansOfDiscardedTraces++;
    else if (trace.isEnded && trace.isContinuation) this.counts.spansLate++;
    if (trace.where === 'open') {
      while (this.bytes(this.open) > this.settings.maxOpenBytes && this.open.length > 0) this.evict();
    } else if (trace.where === 'nowhere') this.enqueue(trace);
    this.wake();
  }

  end(trace: ModelTrace): void {
    this.add(trace, 'root');
    if (this.isOver(trace)) return;
    trace.isEnded = true;
    const isWanted = this.settings.hasObserver && trace.isSlow && !trace.isDropped;
    if (isWanted) {
      trace.sampled = true;
      trace.mustReport = true;
    }
    if (trace.where === 'open' || (trace.where === 'observed' && isWanted)) {
      this.leave(trace);
      this.enqueue(trace);
    }
    this.wake();
  }

  cancel(trace: ModelTrace): void {
    if (trace.isEnded || this.isOver(trace)) return;
    this.counts.tracesCancelled++;
    if (!trace.isDropped) this.counts.spansOfDiscardedTraces += trace.pending.length;
    this.leave(trace);
    trace.pending = [];
    trace.isCancelled = true;
    const rest = this.seen.filter((one) => !one.startsWith(`${trace.name}: `));
    this.seen.splice(0, this.seen.length, ...rest);
  }

  report(): void {
    for (const trace of [...this.observed]) this.empty(trace);
    if (!this.hasReporter) return;
    const open = this.settings.reportOpenTraces
      ? this.open.filter(({ sampled, pending }) => sampled && pending.length > 0)
      : [];
    const { fails } = this;
    for (const trace of [...this.queued, ...open]) {
      const { name, pending, isContinuation, mustReport, isBoring } = trace;
      const isWhole = !isContinuation && pending.includes('root');
      if (this.settings.hasKeep && isWhole && !mustReport && isBoring) {
        this.counts.tracesNotKept++;
        this.counts.spansOfDiscardedTraces += pending.length;
        trace.isDropped = true;
      } else {
        // One call of the reporter, which fails as a whole.
        if (!fails) this.delivered.push(`${name}: ${[...pending].sort()}`);
        this.fails = false;
      }
      this.empty(trace);
    }
  }

  shutDown(): void {
    this.report();
    this.hasReporter = false;
    this.isShutDown = true;
  }

  /** Nothing more is accepted. */
  isOver({ isCancelled, isDropped }: ModelTrace): boolean {
    return isCancelled || (isDropped && !this.settings.hasObserver);
  }

  private evict(): void {
    const [trace] = this.open;
    this.counts.tracesEvicted++;
    this.leave(trace);
    if (this.settings.reportOpenTraces) {
      if (trace.pending.length > 0) this.enqueue(trace);
    } else {
      // One that is not sampled is for the observer, which has it.
      if (trace.sampled) this.counts.spansOfDiscardedTraces += trace.pending.length;
      this.drop(trace);
    }
  }

  private enqueue(trace: ModelTrace): void {
    if (!trace.sampled || trace.isDropped) this.wait(trace, 'observed');
    else if (this.isShutDown) {
      this.counts.droppedSpansAfterShutdown += trace.pending.length;
      this.drop(trace);
    } else this.wait(trace, 'queued');
  }

  private drop(trace: ModelTrace): void {
    if (trace.sampled) trace.isDropped = true;
    if (this.settings.hasObserver && trace.pending.length > 0) this.wait(trace, 'observed');
    else trace.pending = [];
  }

  private wait(trace: ModelTrace, where: 'queued' | 'observed'): void {
    trace.where = where;
    this[where].push(trace);
  }

  private leave(trace: ModelTrace): void {
    for (const list of [this.open, this.queued, this.observed]) {
      if (list.includes(trace)) list.splice(list.indexOf(trace), 1);
    }
    trace.where = 'nowhere';
  }

  /** What waited is elsewhere. An open trace stays open. */
  private empty(trace: ModelTrace): void {
    trace.pending = [];
    trace.isContinuation = true;
    if (trace.where !== 'open') this.leave(trace);
  }

  private wake(): void {
    const { counts, settings } = this;
    if (this.bytes(this.observed) > settings.maxQueuedBytes) for (const trace of [...this.observed]) this.empty(trace);
    const bytes = this.bytes(this.queued);
    if (bytes <= settings.maxQueuedBytes || (this.hasReporter && bytes <= 2 * settings.maxQueuedBytes)) return;
    const oldest = this.queued.slice(0, Math.ceil(this.queued.length / 4));
    const spans = oldest.reduce((sum, { pending }) => sum + pending.length, 0);
    counts[this.hasReporter ? 'droppedTracesQueueFull' : 'droppedTracesBeforeReporter'] += oldest.length;
    counts[this.hasReporter ? 'droppedSpansQueueFull' : 'droppedSpansBeforeReporter'] += spans;
    for (const trace of oldest) this.empty(trace);
  }
}

/** Has what it was shown, but for what was cancelled. */
const observerOf = (): TraceObserver & { readonly seen: () => string[] } => {
  const rows: { readonly id: string; readonly text: string }[] = [];
  const cancelled = new Set<string>();
  const idOf = ({ w0, w1, w2, w3 }: { w0: number; w1: number; w2: number; w3: number }) => `${[w0, w1, w2, w3]}`;
  const observer = observerWith({
    observe(chunk, from, traces) {
      for (let row = from; row < chunk.count; row++) {
        const slot = chunk.slots[row];
        if (slot === NO_SLOT || traces.has(slot, TraceBit.hidden)) continue;
        const text = `${traces.traceStateOf(slot).slice('name='.length)}: ${internedName(chunk.names[row])}`;
        rows.push({ id: idOf(traces.keyOf(slot)), text });
      }
    },
    ended: ({ context }) => context.traceState.endsWith('slow'),
    cancelled: ({ context }) => void cancelled.add(idOf(context)),
  });
  return { ...observer, seen: () => rows.filter(({ id }) => !cancelled.has(id)).map(({ text }) => text) };
};

const run = async (options: Settings, calls: readonly Op[]): Promise<void> => {
  const { maxOpenTraces, maxOpenBytes, maxQueuedBytes, reportOpenTraces, hasKeep, hasObserver } = options;
  const delivered: string[] = [];
  let fails = false;
  const reporter = {
    name: 'plain',
    report({ traces }: { traces: readonly { spans: readonly { name: string; trace: { traceState: string } }[] }[] }) {
      if (fails) {
        fails = false;
        throw new ReportError('ERR_TEST', 'refused', { retryable: false });
      }
      for (const { spans } of traces) {
        const name = spans[0].trace.traceState.slice('name='.length);
        delivered.push(`${name}: ${spans.map((span) => span.name).sort()}`);
      }
    },
  };
  const collector = new Collector({
    maxOpenTraces,
    maxOpenBytes,
    maxQueuedBytes,
    reportOpenTraces,
    ...(hasKeep ? { keep: ({ root }) => root?.trace.traceState.includes('boring') !== true } : {}),
  });
  collector.setReporter(reporter);
  const observer = observerOf();
  if (hasObserver) collector.observeWith(observer);
  const model = new Model(options);
  const before = stats();
  const roots: { readonly span: Span; readonly trace: ModelTrace }[] = [];
  const children: { readonly span: Span; readonly trace: ModelTrace }[] = [];
  let number = 0;

  for (const call of calls) {
    const among = 'at' in call && call.op === 'endChild' ? children : roots;
    const chosen = 'at' in call ? among[call.at % among.length] : undefined;
    switch (call.op) {
      case 'root': {
        const { sampled, isSlow, isBoring } = call;
        const name = `t${number++}${isBoring ? '-boring' : ''}${isSlow ? '-slow' : ''}`;
        const context = SpanContext.fromTraceparent(
          SpanContext.random().withSampled(sampled).toTraceparent(),
          `name=${name}`,
        ) as SpanContext;
        const span = Span.root('root', context, { collector });
        if (!sampled && !hasObserver) break;
        const trace: ModelTrace = {
          name,
          sampled,
          isSlow,
          isBoring,
          where: 'open',
          isEnded: false,
          isCancelled: false,
          isDropped: false,
          hadSpans: false,
          isContinuation: false,
          mustReport: false,
          pending: [],
        };
        roots.push({ span, trace });
        model.start(trace);
        break;
      }
      case 'child':
        if (chosen !== undefined) {
          const span = Span.start(`c${number++}`, chosen.span);
          if (model.isOver(chosen.trace)) model.counts.spansOfDiscardedTraces++;
          else children.push({ span, trace: chosen.trace });
          expect(span.isRecording).toBe(!model.isOver(chosen.trace));
        }
        break;
      case 'endChild':
        if (chosen !== undefined) {
          children.splice(children.indexOf(chosen), 1);
          chosen.span.end();
          model.add(chosen.trace, chosen.span.name);
        }
        break;
      case 'endRoot':
        if (chosen !== undefined && chosen.span.endTicks === 0) {
          chosen.span.end();
          model.end(chosen.trace);
        }
        break;
      case 'cancel':
        if (chosen !== undefined) {
          chosen.span.cancel();
          model.cancel(chosen.trace);
        }
        break;
      case 'report':
        void collector.flush();
        model.report();
        break;
      case 'fail':
        fails = model.hasReporter;
        model.fails = model.hasReporter;
        break;
      case 'shutdown':
        await collector.shutdown();
        model.shutDown();
        break;
      case 'setReporter':
        collector.setReporter(reporter);
        model.hasReporter = true;
        model.isShutDown = false;
        break;
    }
    const { openTraces, openBytes, readyTraces, readyBytes, ...rest } = collector.stats();
    expect({ openTraces, openBytes, readyTraces, readyBytes }).toEqual({
      openTraces: model.open.length,
      openBytes: model.bytes(model.open),
      readyTraces: model.queued.length,
      readyBytes: model.bytes(model.queued),
    });
    const now = stats() as unknown as Record<string, number>;
    const counted = Object.fromEntries(
      Object.keys(model.counts).map((key) => [
        key,
        key in rest
          ? (rest as unknown as Record<string, number>)[key]
          : now[key] - (before as unknown as Record<string, number>)[key],
      ]),
    );
    expect(counted).toEqual(model.counts);
    expect([...delivered].sort()).toEqual([...model.delivered].sort());
  }
  if (hasObserver) {
    collector.observeNow();
    expect(observer.seen().sort()).toEqual([...model.seen].sort());
  }
  // Nothing is left where everything has ended.
  for (const { span } of [...children, ...roots]) if (span.endTicks === 0) span.end();
  await collector.shutdown();
  const { openTraces, openBytes, readyTraces, readyBytes, rowChunks } = collector.stats();
  expect([openTraces, openBytes, readyTraces, readyBytes]).toEqual([0, 0, 0, 0]);
  expect(rowChunks).toBeLessThanOrEqual(1);
};

test('every sum, counter and delivery is that of the reference', async () => {
  await fc.assert(
    fc.asyncProperty(settings, ops, (options, calls) => run(options, calls)),
    { numRuns: samples(200, 2000, 10_000) },
  );
});
