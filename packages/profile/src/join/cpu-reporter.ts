// CpuReporter: gives finished spans their CPU time on the way to another reporter. It holds traces until the profile of their time is there, within
// bounds of spans and time, of which the oldest go first: a trace may go on without CPU figures, but never be lost for them.

import { OptionError, type ReportBatch, type Reporter, type Trace } from 'spanline';
import { anyNumber, timers, wrongOption } from 'spanline/internal/base';
import { Pipeline, resolveOptions } from 'spanline/internal/rows';
import type { LabelledProfile } from '../labelled-profile.js';
import { register } from '../shared-state.js';
import { CPU_NS, type OwnedTrace, windowOf, windowOfSpans, withCpu } from './cpu-properties.js';

interface BufferedTrace extends OwnedTrace {
  readonly endNs: bigint;
  readonly sinceMs: number;
}

class BufferedTraces {
  #buffered: BufferedTrace[] = [];
  spanCount = 0;

  get traceCount(): number {
    return this.#buffered.length;
  }

  add(owned: OwnedTrace): void {
    this.#buffered.push({ ...owned, endNs: windowOfSpans(owned.trace.spans).toNs, sinceMs: timers.monotonicMs() });
    this.spanCount += owned.trace.spanCount;
  }

  /** Those that are wanted, the oldest first; all by default. */
  take(isWanted: (trace: BufferedTrace) => boolean = () => true): OwnedTrace[] {
    const taken: BufferedTrace[] = [];
    const kept: BufferedTrace[] = [];
    for (const each of this.#buffered) (isWanted(each) ? taken : kept).push(each);
    this.#buffered = kept;
    for (const { trace } of taken) this.spanCount -= trace.spanCount;
    return taken;
  }
}

/** Options of {@link CpuReporter}. */
export interface CpuReporterOptions {
  /** Spans that may wait for their profile; beyond, the oldest traces go on without. Default 100,000. */
  readonly maxBufferedSpans?: number;
  /** Milliseconds a trace may wait; from then on it goes on without. Default 65,000: two rotations of a continuous profiler. */
  readonly maxBufferedMs?: number;
  /** Finished profiles kept for traces that began long ago. Default 8. */
  readonly maxProfiles?: number;
}

const LOOK_MS = 1000;
const NOTHING = (): void => {};
const DEFAULTS = { maxBufferedSpans: 100_000, maxBufferedMs: 65_000, maxProfiles: 8 } as const;

const checked = (options: CpuReporterOptions): Required<CpuReporterOptions> => {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  for (const [name, value] of Object.entries(options)) {
    if (!(name in DEFAULTS)) {
      throw new OptionError(`Unknown option "${name}". Known: ${Object.keys(DEFAULTS).join(', ')}.`);
    }
    if (value !== undefined) anyNumber(name, value, [1], wrongOption);
  }
  return { ...DEFAULTS, ...Object.fromEntries(given) };
};

/**
 * A reporter that gives spans the properties `cpu.ns`, `cpu.samples` and `cpu.stderr_ns` and hands them to another reporter.
 *
 * Set it in the place of the other one, and give it every profile by {@link add}: as the sink of a continuous profiler, or after a
 * profile on demand. While a profile is taken in this thread, traces wait for it; for the collector they are delivered then, and this
 * reporter tries as often and within the same bounds. The figures are of a span and everything beneath it
 * that was reported with it; a span without samples has none. Throws `ERR_SPANLINE_OPTION` when an option is wrong.
 *
 * @example
 * ```ts
 * import { setReporter } from 'spanline';
 * import { ConsoleReporter } from 'spanline/exporters/console';
 * import { CpuReporter, continuousProfiler } from '@spanline/profile';
 * const reporter = new CpuReporter(new ConsoleReporter());
 * setReporter(reporter);
 * const profiler = await continuousProfiler({ rotateMs: 10_000, sink: (profile) => reporter.add(profile) });
 * await profiler.stop();
 * ```
 */
export class CpuReporter implements Reporter {
  readonly name: string;
  readonly #inner: Reporter;
  readonly #options: Required<CpuReporterOptions>;
  readonly #buffered = new BufferedTraces();
  readonly #pipeline: Pipeline;
  #profiles: LabelledProfile[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** The call of the other reporter that the collector waits for. */
  #call: Promise<void> | undefined;
  readonly #counters = { tracesWithCpu: 0, tracesWithoutCpu: 0, tracesOverBound: 0, tracesOverTime: 0 };

  constructor(inner: Reporter, options: CpuReporterOptions = {}) {
    this.#inner = inner;
    this.name = inner.name;
    this.#options = checked(options);
    const queue = resolveOptions({});
    this.#pipeline = new Pipeline(this.#inTurn(), () => queue);
  }

  /** A finished profile of this thread. Traces that were waiting for it go on. */
  add(profile: LabelledProfile): void {
    this.#profiles.push(profile);
    if (this.#profiles.length > this.#options.maxProfiles) this.#profiles.shift();
    const { toNs } = windowOf(profile);
    this.#passOn(this.#buffered.take(({ endNs }) => endNs <= toNs));
  }

  report(batch: ReportBatch): void | Promise<void> {
    const { resource } = batch;
    const ready: OwnedTrace[] = [];
    const early: OwnedTrace[] = [];
    for (const trace of batch.traces) {
      (this.#isComplete(trace) ? ready : early).push({ trace, resource });
    }
    // The collector knows best what to do when it fails.
    if (early.length === 0 && this.#pipeline.isIdle) return this.#reportNow(batch, ready);
    for (const each of early) this.#buffered.add(each);
    let surplus = this.#buffered.spanCount - this.#options.maxBufferedSpans;
    const over = this.#buffered.take(({ trace }) => {
      if (surplus <= 0) return false;
      surplus -= trace.spanCount;
      return true;
    });
    this.#counters.tracesOverBound += over.length;
    this.#passOn([...over, ...ready]);
    this.#look();
    return undefined;
  }

  reportSync(batch: ReportBatch, timeoutMs: number): void {
    const { resource } = batch;
    const all = [...this.#buffered.take(), ...batch.traces.map((trace) => ({ trace, resource }))];
    this.#pipeline.reportSync(this.#withCpu(all), timers.monotonicMs() + timeoutMs);
  }

  /** What waits goes on with what is known of it now. */
  async flush(): Promise<void> {
    this.#passOn(this.#buffered.take());
    await this.#pipeline.whenSettled();
    await this.#inner.flush?.();
  }

  async shutdown(): Promise<void> {
    timers.clearTimeout(this.#timer);
    this.#passOn(this.#buffered.take());
    await this.#pipeline.whenSettled();
    this.#pipeline.close();
    await this.#inner.shutdown?.();
  }

  /** Counters of what was held, and those of the other reporter. */
  stats(): Readonly<Record<string, number>> {
    const { reportErrors, droppedSpansQueueFull, droppedSpansRefused, droppedSpansAtShutdown } = this.#pipeline.stats();
    return {
      ...this.#inner.stats?.(),
      ...this.#counters,
      bufferedTraces: this.#buffered.traceCount,
      bufferedSpans: this.#buffered.spanCount,
      bufferedReportErrors: reportErrors,
      bufferedSpansDropped: droppedSpansQueueFull + droppedSpansRefused + droppedSpansAtShutdown,
    };
  }

  // Nothing that is still to come can say more about what ended by then.
  #isComplete({ spans }: Trace): boolean {
    if (!register.isBusy) return true;
    const last = this.#profiles.at(-1);
    return last !== undefined && windowOfSpans(spans).toNs <= windowOf(last).toNs;
  }

  #reportNow(batch: ReportBatch, traces: readonly OwnedTrace[]): void | Promise<void> {
    const { spanCount, resource, signal } = batch;
    const call = this.#inner.report({ traces: this.#withCpu(traces), spanCount, resource, signal });
    if (typeof call?.then !== 'function') return undefined;
    this.#call = call;
    return call.finally(() => {
      this.#call = undefined;
    });
  }

  /** The other reporter, which must get one batch at a time, whether by the collector or from the queue here. */
  #inTurn(): Reporter {
    const inner = this.#inner;
    return {
      name: inner.name,
      report: (batch) => this.#call?.then(NOTHING, NOTHING).then(() => inner.report(batch)) ?? inner.report(batch),
      reportSync: inner.reportSync && ((batch, timeoutMs) => inner.reportSync?.(batch, timeoutMs)),
    };
  }

  #look(): void {
    timers.clearTimeout(this.#timer);
    if (this.#buffered.traceCount === 0) return;
    const { maxBufferedMs } = this.#options;
    this.#timer = timers.setTimeout(
      () => {
        // Without a profile under way there is nothing to wait for, unless its sink is slow.
        const maxMs = register.isBusy ? maxBufferedMs : Math.min(LOOK_MS, maxBufferedMs);
        const before = timers.monotonicMs() - maxMs;
        const old = this.#buffered.take(({ sinceMs }) => sinceMs <= before);
        this.#counters.tracesOverTime += old.length;
        this.#passOn(old);
        this.#look();
      },
      Math.min(LOOK_MS, maxBufferedMs),
    );
    this.#timer.unref();
  }

  #passOn(traces: readonly OwnedTrace[]): void {
    if (traces.length > 0) this.#pipeline.push(this.#withCpu(traces));
  }

  #withCpu(traces: readonly OwnedTrace[]): ReturnType<typeof withCpu> {
    const all = withCpu(traces, this.#profiles);
    for (const { spans } of all) {
      if (spans.some((span) => span.propertyList?.includes(CPU_NS))) this.#counters.tracesWithCpu++;
      else this.#counters.tracesWithoutCpu++;
    }
    return all;
  }
}
