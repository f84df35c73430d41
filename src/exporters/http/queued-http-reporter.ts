// What reporters over HTTP share: one report at a time, and a process that stays alive while somebody waits for a delivery.
//
// The reports of one reporter, one after the other: one that timed out still winds up while the collector begins the next. A report that
// fails must not fail the next.
import { timers } from '../../base/calls/timers.js';
import type { ReportBatch, Reporter } from '../../collector/reporter.js';

/** Delivers a batch; the signal is that of this attempt. */
type Deliver = (batch: ReportBatch, signal: AbortSignal) => Promise<void>;

export class ReportQueue {
  readonly #deliver: Deliver;
  #last: Promise<void> = Promise.resolve();

  constructor(deliver: Deliver) {
    this.#deliver = deliver;
  }

  /** Settles as the delivery of `batch` does. */
  report(batch: ReportBatch): Promise<void> {
    // Read now: the collector gives the batch a new signal when it tries again.
    const { signal } = batch;
    const report = this.#last.then(() => this.#deliver(batch, signal));
    this.#last = report.catch(() => {});
    return report;
  }

  /** Resolves once all reports so far have ended, in whatever way. It does not keep the process alive. */
  idle(): Promise<void> {
    return this.#last;
  }

  /** As {@link idle}, and until then the process does not end for lack of things to do: sockets of reporters never hold it. */
  async idleHolding(): Promise<void> {
    const hold = timers.setInterval(() => {}, 1 << 30);
    await this.#last;
    timers.clearInterval(hold);
  }
}

export abstract class QueuedHttpReporter implements Reporter {
  abstract readonly name: string;
  /** @internal */
  readonly keepsNoTrace = true;
  readonly #queue = new ReportQueue((batch, signal) => this.deliver(batch, signal));

  report(batch: ReportBatch): Promise<void> {
    return this.#queue.report(batch);
  }

  flush(): Promise<void> {
    return this.#queue.idleHolding();
  }

  async shutdown(): Promise<void> {
    await this.#queue.idleHolding();
    this.close();
  }

  abstract stats(): Readonly<Record<string, number>>;

  protected abstract deliver(batch: ReportBatch, signal: AbortSignal): Promise<void>;
  /** Give back the connections. */
  protected abstract close(): void;
}
