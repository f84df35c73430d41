// What became of spans, by OpenTelemetry's conventions for what an SDK says of itself: those that the collector has handed to exporters or dropped, and why,
// and those that each exporter has delivered. Read from `stats()` when an exporter reads, so that it costs the recording path nothing; sums must only grow,
// also when a reporter is replaced by another of its name, which counts from zero.
import { stats } from '../collector/default-collector.js';
import { Counter, type Definition, UpDownCounter } from './instruments.js';
import type { Instruments } from './reader.js';

const NAME = 'otel.component.name';
const TYPE = 'otel.component.type';
const ERROR = 'error.type';

const COLLECTOR = 'spanline.collector';
const COLLECTOR_NAME = `${COLLECTOR}/0`;

/** Types of exporters that the conventions know. */
const EXPORTER_TYPES: Readonly<Record<string, string>> = { otlp: 'otlp_http_span_exporter' };

/** `name#2` is the second reporter of a name. */
const componentOf = (reporter: string): readonly [name: string, type: string] => {
  const [name, n = '1'] = reporter.split('#');
  const type = Object.hasOwn(EXPORTER_TYPES, name) ? EXPORTER_TYPES[name] : `spanline.${name}`;
  return [`${type}/${Number(n) - 1}`, type];
};

/** What sums have grown by since they were last looked at. */
class Growth {
  readonly #last = new Map<string, number>();

  of(key: string, value: number): number {
    const last = this.#last.get(key) ?? 0;
    this.#last.set(key, value);
    // One that is smaller counts anew.
    return value >= last ? value - last : value;
  }
}

/** Set by a total that has grown; nothing of what has never happened. */
const addGrown = (counter: Counter, by: number, attributes: readonly (string | undefined)[]): void => {
  if (by > 0) counter.add(by, attributes);
};

type Stats = ReturnType<typeof stats>;
type ReporterStats = Stats['collector']['reporters'][string];

/** Of an instrument of whole numbers. */
const whole = (name: string, unit: string, description: string, keys?: readonly string[]): Definition => ({
  name,
  unit,
  description,
  keys,
  isWhole: true,
});

const observeTraces = (instruments: Instruments): ((read: Stats) => void) => {
  const growth = new Growth();
  const recorded = instruments.add(
    new Counter(whole('spanline.trace.recorded', '{trace}', 'The number of traces begun whose spans are recorded.')),
  );
  // The flight recorder records them all the same.
  const unsampled = instruments.add(
    new Counter(
      whole('spanline.trace.unsampled', '{trace}', 'The number of traces begun which the sampler has left out.'),
    ),
  );
  const open = instruments.add(
    new UpDownCounter(whole('spanline.trace.open', '{trace}', 'The number of traces whose root has not ended.')),
  );
  const ofMemory = 'Memory with the spans of traces that are open or wait for a report.';
  const memory = instruments.add(new UpDownCounter(whole('spanline.trace.memory', 'By', ofMemory)));
  return ({ tracesStarted, tracesUnsampled, collector }) => {
    addGrown(recorded, growth.of('recorded', tracesStarted), []);
    addGrown(unsampled, growth.of('unsampled', tracesUnsampled), []);
    open.set(collector.openTraces);
    memory.set(collector.rowBytes);
  };
};

/** Spans that nobody reports, by `error.type`. */
const dropsOf = (read: Stats): Readonly<Record<string, number>> => ({
  queue_full: read.collector.droppedSpansQueueFull,
  no_reporter: read.collector.droppedSpansBeforeReporter,
  already_shutdown: read.collector.droppedSpansAfterShutdown,
  trace_discarded: read.spansOfDiscardedTraces,
  trace_full: read.spansOverTraceCap + read.localSpansOverCap,
});

const observeCollector = (instruments: Instruments): ((read: Stats) => void) => {
  const growth = new Growth();
  const ofProcessed = 'The number of spans for which the processing has finished, either successful or failed.';
  const processed = instruments.add(
    new Counter(whole('otel.sdk.processor.span.processed', '{span}', ofProcessed, [NAME, TYPE, ERROR])),
  );
  const ofQueued = 'The number of spans in the queue of a given instance of an SDK span processor.';
  const queued = instruments.add(
    new UpDownCounter(whole('otel.sdk.processor.span.queue.size', '{span}', ofQueued, [NAME, TYPE])),
  );
  return (read) => {
    addGrown(processed, growth.of('', read.collector.handedSpans), [COLLECTOR_NAME, COLLECTOR, undefined]);
    for (const [reason, spans] of Object.entries(dropsOf(read)))
      addGrown(processed, growth.of(reason, spans), [COLLECTOR_NAME, COLLECTOR, reason]);
    queued.set(read.collector.readySpans, [COLLECTOR_NAME, COLLECTOR]);
  };
};

/** Sums of a reporter. What OTLP's server has refused of a batch is part of what was reported, or dropped with the rest of it. */
const sumsOf = ({ reportedSpans, droppedSpansRefused, own = {}, ...sums }: ReporterStats) => {
  const { rejectedSpans: rejected = 0, refusedSpans = 0, spansTooLarge = 0, spansInvalid = 0 } = own;
  return {
    all: reportedSpans + droppedSpansRefused,
    failed: {
      rejected: rejected + Math.max(refusedSpans, droppedSpansRefused),
      invalid: spansTooLarge + spansInvalid,
    },
    dropped: { queue_full: sums.droppedSpansQueueFull, already_shutdown: sums.droppedSpansAtShutdown },
  };
};

const observeExporters = (instruments: Instruments): ((read: Stats) => void) => {
  const growth = new Growth();
  /** Spans that have failed before the rest of their batch was delivered. */
  const early = new Map<string, number>();
  const ofExported = 'The number of spans for which the export has finished, either successful or failed.';
  const exported = instruments.add(
    new Counter(whole('otel.sdk.exporter.span.exported', '{span}', ofExported, [NAME, TYPE, ERROR])),
  );
  const ofInFlight = 'The number of spans which were passed to the exporter, but that have not been exported yet.';
  const inFlight = instruments.add(
    new UpDownCounter(whole('otel.sdk.exporter.span.inflight', '{span}', ofInFlight, [NAME, TYPE])),
  );
  const observe = (reporter: string, read: ReporterStats): void => {
    const [name, type] = componentOf(reporter);
    const { all, failed, dropped } = sumsOf(read);
    let delivered = growth.of(name, all) - (early.get(name) ?? 0);
    for (const [reason, spans] of Object.entries(failed)) {
      const grown = growth.of(`${name} ${reason}`, spans);
      addGrown(exported, grown, [name, type, reason]);
      delivered -= grown;
    }
    for (const [reason, spans] of Object.entries(dropped))
      addGrown(exported, growth.of(`${name} ${reason}`, spans), [name, type, reason]);
    addGrown(exported, delivered, [name, type, undefined]);
    early.set(name, Math.max(0, -delivered));
    inFlight.set(read.queuedSpans, [name, type]);
  };
  return ({ collector }) => {
    for (const [reporter, read] of Object.entries(collector.reporters)) observe(reporter, read);
  };
};

/** Counts what the recorder does with spans. */
export const measureRecorder = (instruments: Instruments, read: () => Stats = stats): void => {
  const observers = [observeTraces(instruments), observeCollector(instruments), observeExporters(instruments)];
  instruments.onRead(() => {
    const now = read();
    for (const observe of observers) observe(now);
  });
};
