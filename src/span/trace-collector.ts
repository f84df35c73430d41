// The article's form of collecting: a request collects its own spans. Makes no records itself; the sink does.
import type { ActiveTrace } from './active-trace.js';

/** Augmented by the collector with `record`, because the record type lives in a layer above. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging.
export interface RecordTypes {}

/** The record type, as far as this module can name it. */
export type CollectedRecord = RecordTypes extends { readonly record: infer R } ? R : unknown;

/** Collects the spans of one trace; made by `Span.rootWithCollector`. */
export class TraceCollector<R = CollectedRecord> {
  private waiting: (() => void)[] = [];

  /** @internal */
  constructor(
    private readonly trace: ActiveTrace | null,
    private readonly toRecords: () => R[],
  ) {}

  /** @internal Of a root that does not record. */
  static empty<R>(): TraceCollector<R> {
    return new TraceCollector<R>(null, () => []);
  }

  /** @internal The root ended or was discarded. */
  release(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /**
   * The finished spans, root first, once the root has ended (waits for it). Spans that finish later are returned by the
   * next call; a cancelled trace gives an empty list.
   */
  async collect(): Promise<R[]> {
    if (this.trace === null) return [];
    if (this.trace.isOpen) await new Promise<void>((resolve) => this.waiting.push(resolve));
    // What is open at the end of this turn is handed over then.
    else await undefined;
    return this.toRecords();
  }
}
