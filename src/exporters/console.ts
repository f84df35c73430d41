// Finished traces as trees on a stream, for development. It must not grow memory behind a slow stream, and nothing a span
// says may steer the terminal.
import type { Writable } from 'node:stream';
import { onAbort } from '../base/calls/timers.js';
import { OptionError, wrongOption } from '../base/errors.js';
import { anyNumber } from '../base/options/checks.js';
import { checkNames } from '../collector/options.js';
import { type ReportBatch, ReportError, type Reporter, type Trace } from '../collector/reporter.js';
import { wantsColors } from '../formats/terminal/palette.js';
import { type RenderOptions, renderTrace } from '../formats/terminal/render-trace.js';

export { type RenderOptions, renderTrace } from '../formats/terminal/render-trace.js';

/** Options of {@link ConsoleReporter}. */
export interface ConsoleReporterOptions extends Omit<RenderOptions, 'colors' | 'serviceName'> {
  /** Where to print; `process.stderr` by default, so that traces do not mix with a program's output. */
  readonly stream?: Writable & { readonly isTTY?: boolean };
  /** `'auto'`, the default: FORCE_COLOR, then NO_COLOR, then whether the stream is a terminal. */
  readonly colors?: boolean | 'auto';
  /** Traces shorter than this many milliseconds are counted, not printed; 0 by default. */
  readonly minDurationMs?: number;
}

const KNOWN = ['stream', 'colors', 'minDurationMs', 'barWidth', 'maxSpans', 'properties', 'events'];

const check = (options: ConsoleReporterOptions): void => {
  checkNames(options, KNOWN);
  for (const key of ['minDurationMs', 'barWidth', 'maxSpans'] as const) {
    const value = options[key];
    if (value !== undefined) anyNumber(`Option "${key}"`, value, [0], wrongOption);
  }
  const { colors, stream } = options;
  if (colors !== undefined && colors !== 'auto' && typeof colors !== 'boolean') {
    throw new OptionError(`Option "colors" must be true, false or "auto", not ${String(colors)}.`);
  }
  if (stream !== undefined && typeof stream?.write !== 'function') {
    throw new OptionError('Option "stream" must be a writable stream.');
  }
};

/** From the earliest start to the latest end: a trace may hold spans longer than its root. */
const durationNsOf = (trace: Trace): number => {
  const [first] = trace.spans;
  let from = 0;
  let to = 0;
  for (const span of trace.spans) {
    const start = (span.startSec - first.startSec) * 1e9 + (span.startNano - first.startNano);
    from = Math.min(from, start);
    to = Math.max(to, start + span.durationNs);
  }
  return to - from;
};

/** Resolves when the stream takes more; rejects when it never will. */
const drained = (stream: Writable, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const settle = (error?: unknown): void => {
      stream.off('drain', onDrain).off('close', onClose).off('error', settle);
      unlink();
      if (error === undefined) resolve();
      else
        reject(
          new ReportError('ERR_SPANLINE_CONSOLE', `the stream takes no more output: ${error}`, { retryable: false }),
        );
    };
    const onDrain = (): void => settle();
    const onClose = (): void => settle('it was closed');
    stream.on('drain', onDrain).on('close', onClose).on('error', settle);
    const unlink = onAbort(signal, () => settle('it did not drain in time'));
  });

/**
 * Prints each finished trace as a tree with durations. Use it while developing; {@link renderTrace} is the same without a
 * reporter. Throws `ERR_SPANLINE_OPTION` when an option is wrong.
 *
 * @example
 * ```ts
 * setReporter(new ConsoleReporter({ minDurationMs: 10 }));
 * ```
 */
export class ConsoleReporter implements Reporter {
  readonly name = 'console';
  /** @internal */
  readonly keepsNoTrace = true;
  readonly #stream: Writable;
  readonly #render: RenderOptions;
  readonly #minDurationNs: number;
  readonly #counts = { tracesPrinted: 0, spansPrinted: 0, tracesSkipped: 0 };

  constructor(options: ConsoleReporterOptions = {}) {
    check(options);
    const { stream = process.stderr, colors = 'auto', minDurationMs = 0, ...render } = options;
    this.#stream = stream;
    this.#minDurationNs = minDurationMs * 1e6;
    this.#render = { ...render, colors: colors === 'auto' ? wantsColors(stream) : colors };
  }

  async report(batch: ReportBatch): Promise<void> {
    for (const trace of batch.traces) {
      if (!this.#print(trace, batch.resource.serviceName)) await drained(this.#stream, batch.signal);
    }
  }

  reportSync(batch: ReportBatch): void {
    for (const trace of batch.traces) this.#print(trace, batch.resource.serviceName);
  }

  stats(): Readonly<Record<string, number>> {
    return { ...this.#counts };
  }

  /** False when the stream asks to wait. */
  #print(trace: Trace, serviceName: string): boolean {
    if (durationNsOf(trace) < this.#minDurationNs) {
      this.#counts.tracesSkipped++;
      return true;
    }
    if (this.#stream.destroyed) {
      throw new ReportError('ERR_SPANLINE_CONSOLE', 'the stream traces are printed to is closed', { retryable: false });
    }
    this.#counts.tracesPrinted++;
    this.#counts.spansPrinted += trace.spanCount;
    return this.#stream.write(renderTrace(trace.spans, { ...this.#render, serviceName }));
  }
}
