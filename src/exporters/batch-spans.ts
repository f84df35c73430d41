// The spans of a batch by one running number, made on demand. Reading in rising order costs one comparison a span.

import type { ReportBatch, Trace } from '../collector/reporter.js';
import { OWN_SCOPE, ownResource } from '../formats/library.js';
import type { ArchivedScope } from '../trace/archived-span.js';
import type { FinishedSpan } from '../trace/finished-span.js';
import type { SpanRecord } from '../trace/record.js';
import { RecordView } from '../trace/record-view.js';
import { RowView } from '../trace/row-view.js';

/** A trace of our own collector can show its rows. */
interface ViewedTrace extends Trace {
  viewAt?(index: number, view: RowView): FinishedSpan;
}

export class BatchSpans {
  readonly #batch: ReportBatch;
  #trace = 0;
  /** Number of the first span of the current trace. */
  #first = 0;

  readonly #rows: RowView;
  readonly #records: RecordView;

  /** @param scope What the views say they were recorded by. */
  constructor(batch: ReportBatch, scope: ArchivedScope = OWN_SCOPE) {
    this.#batch = batch;
    const resource = ownResource(batch.resource);
    this.#rows = new RowView(resource, scope);
    this.#records = new RecordView(resource, scope);
  }

  at(index: number): SpanRecord {
    const trace = this.#traceOf(index);
    return trace.spanAt(index - this.#first);
  }

  /** The same as a view, good until the next call: no record is made where rows are at hand. */
  viewAt(index: number): FinishedSpan {
    const trace = this.#traceOf(index);
    const at = index - this.#first;
    return trace.viewAt?.(at, this.#rows) ?? this.#records.of(trace.spanAt(at));
  }

  #traceOf(index: number): ViewedTrace {
    const { traces } = this.#batch;
    while (index < this.#first) this.#first -= traces[--this.#trace].spanCount;
    while (index >= this.#first + traces[this.#trace].spanCount) this.#first += traces[this.#trace++].spanCount;
    return traces[this.#trace];
  }
}
