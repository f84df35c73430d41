// What reporters over HTTP share: one report at a time, and a process that stays alive while somebody waits for a delivery.
import type { ReportBatch, Reporter } from '../../collector/reporter.js';
import { ReportQueue } from '../report-queue.js';

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
