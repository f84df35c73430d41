// The default collector: the one global of the library, and the functions that speak to it. Shared by the ES module and
// the CommonJS build of this package in one thread.

import { wrongOption } from '../base/errors.js';
import { flag } from '../base/options/checks.js';
import { clockStats } from '../clock/index.js';
import type { ContextInfo } from '../context/frame-store.js';
import { state } from '../context/process-state.js';
import type { SpanRecord } from '../record/record.js';
import { type CounterName, readCounters } from '../rows/counters.js';
import { TraceCollector } from '../span/active-trace.js';
import { type RootOptions, sinkArgument } from '../span/arguments.js';
import { Span } from '../span/span.js';
import type { SpanContext } from '../span/span-context.js';
import { Collector, type CollectorStats, type FlushResult } from './collector.js';
import { flushOnExit } from './exit.js';
import { type CollectorOptions, requireOptions } from './options.js';
import { OwnTrace } from './own-trace.js';
import type { Reporter } from './reporter.js';
import type { TraceLife } from './trace-life.js';

declare module '../span/active-trace.js' {
  interface CollectedRecord extends SpanRecord {}
}

/** Options of features in layers above; each adds its own by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging.
export interface FeatureOptions {}

/** Counters that features add to {@link stats}. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging.
export interface FeatureStats {}

/** Options of {@link configure}: those of the collector, and the switches of the whole library. */
export interface Options extends CollectorOptions, FeatureOptions {
  /** True turns the whole library into no-ops: nothing records, nothing allocates. Also: `SPANLINE_DISABLED=1`. */
  readonly disabled?: boolean;
  /** Warn about misuse once per call site. Default: `NODE_ENV === 'development'`. */
  readonly development?: boolean;
}

/** Counters of the recording path by reason, of the collector and of the clock, and how contexts are entered. */
export interface Stats extends Record<CounterName, number>, FeatureStats {
  readonly collector: CollectorStats;
  readonly clock: Readonly<Record<string, number>>;
  readonly context: ContextInfo;
}

/** What a feature adds to {@link configure} and {@link stats} under its name. */
interface Feature {
  /**
   * Checks the option, and gives what puts it in force. Either throws `ERR_SPANLINE_OPTION` and then has changed nothing: what is given is
   * called when everything else is known to be right.
   */
  prepare(option: unknown): (collector: Collector) => void;
  stats(): unknown;
}

const features = new Map<string, Feature>();

/** @internal */
export const addFeature = (name: keyof FeatureOptions & string, feature: Feature): void => {
  features.set(name, feature);
};

const prepareFeatures = (options: Options): [CollectorOptions, ((collector: Collector) => void)[]] => {
  const own: Record<string, unknown> = { ...options };
  const prepared = [...features].flatMap(([name, feature]) => {
    const { [name]: option } = own;
    delete own[name];
    return option === undefined ? [] : [feature.prepare(option)];
  });
  return [own, prepared];
};

state.defaultCollector ??= new Collector();

/** The collector of roots that name none. */
export const defaultCollector = (): Collector => state.defaultCollector as Collector;

/**
 * Set options of the default collector and of the library; what is not named stays as it is. Call it at start-up.
 *
 * Throws `ERR_SPANLINE_OPTION` naming the option that is wrong, and then changes nothing.
 *
 * @example
 * ```ts
 * configure({ serviceName: 'query-engine', sampler: parentBased(ratio(0.1)), keep: (trace) => trace.durationNs > 1e6 });
 * ```
 */
export const configure = (options: Options): void => {
  requireOptions(options);
  const { disabled, development, ...others } = options;
  const [rest, prepared] = prepareFeatures(others);
  for (const [key, value] of Object.entries({ disabled, development })) {
    if (value !== undefined) flag(`Option "${key}"`, value, wrongOption);
  }
  const collector = defaultCollector();
  const applyOwn = collector.prepare(rest);
  for (const apply of prepared) apply(collector);
  applyOwn();
  if (disabled !== undefined) state.enabled = !disabled;
  if (development !== undefined) state.development = development;
};

/**
 * Report to this reporter, or to each of several. The one set before still delivers what it was given. Call it at start-up;
 * traces finished before are kept for the first reporter, within bounds. Throws `ERR_SPANLINE_OPTION` for what is none.
 *
 * @example
 * ```ts
 * setReporter(new ConsoleReporter());
 * ```
 */
export const setReporter = (reporter: Reporter | readonly Reporter[]): void => {
  defaultCollector().setReporter(reporter);
  flushOnExit(defaultCollector());
};

/**
 * Hand every finished trace to the reporters and wait until they have delivered, 30 s at most. Use it between jobs, before
 * a freeze or in a test; traces finished meanwhile are not waited for. Never rejects.
 *
 * @example
 * ```ts
 * const { complete, pendingSpans } = await flush({ timeoutMs: 1000 });
 * if (!complete) console.warn(`${pendingSpans} spans wait for a reporter`);
 * ```
 */
export const flush = (options?: { readonly timeoutMs?: number }): Promise<FlushResult> =>
  defaultCollector().flush(options);

/**
 * Flush and release the reporters: sockets and files are closed. Use it at the end of the process; what cannot be
 * delivered in time (5 s) is dropped and counted. Never rejects.
 *
 * @example
 * ```ts
 * const { complete } = await shutdown();
 * if (!complete) console.warn(stats().collector.reporters);
 * ```
 */
export const shutdown = (options?: { readonly timeoutMs?: number }): Promise<FlushResult> =>
  defaultCollector().shutdown(options);

/**
 * Every drop, misuse and delivery, counted since the process began.
 *
 * @example
 * ```ts
 * const { spansLate, collector } = stats();
 * console.log(spansLate, collector.readyTraces);
 * ```
 */
export const stats = (): Stats => ({
  ...readCounters(),
  collector: defaultCollector().stats(),
  clock: clockStats(),
  context: state.queueStore.info,
  ...Object.fromEntries(
    [...features].map(([name, { stats }]) => [name, stats()]).filter(([, value]) => value !== undefined),
  ),
});

Span.rootWithCollector = (name: string, context?: SpanContext, options?: RootOptions) => {
  if (!state.enabled) return [Span.noop(), TraceCollector.empty()];
  const own = new OwnTrace((sinkArgument(options) ?? defaultCollector().life) as TraceLife);
  const span = Span.rootIn(own, name, context, options);
  const { trace } = span;
  if (trace === null) return [span, TraceCollector.empty()];
  const collector = new TraceCollector(trace, () => own.take(trace));
  own.onClosed = () => collector.release();
  return [span, collector];
};
