// The spans of a batch by one running number, made on demand. Reading in rising order costs one comparison a span.

import type { ReportBatch } from '../../collector/reporter.js';
import type { SpanRecord } from '../../trace/record.js';

export class BatchSpans {
  #trace = 0;
  /** Number of the first span of the current trace. */
  #first = 0;

  constructor(private readonly batch: ReportBatch) {}

  at(index: number): SpanRecord {
    const { traces } = this.batch;
    while (index < this.#first) this.#first -= traces[--this.#trace].spanCount;
    while (index >= this.#first + traces[this.#trace].spanCount) this.#first += traces[this.#trace++].spanCount;
    return traces[this.#trace].spanAt(index - this.#first);
  }
}
