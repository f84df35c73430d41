// The spans of a batch by one running number, made on demand. Reading in rising order costs one comparison a span.

import type { PartBatch } from '../collector/pipeline.js';
import type { ReportBatch, Trace } from '../collector/reporter.js';
import { TracePart } from '../collector/trace-part.js';
import { LIBRARY_VERSION, OWN_SCOPE, ownResource } from '../formats/library.js';
import type { ArchivedScope } from '../record/archived-span.js';
import type { FinishedSpan } from '../record/finished-span.js';
import { ObjectView } from '../record/object-view.js';
import type { SpanRecord } from '../record/record.js';
import { RowView } from '../record/row-view.js';

let isOtherNoted = false;

/** Rows of another copy of this package may be of another form: its records are read. */
const noteOther = (): void => {
  if (isOtherNoted) return;
  isOtherNoted = true;
  const message = `Two copies of spanline are loaded; spans that one records and the other (${LIBRARY_VERSION}) reports cost more. Install one version: npm ls spanline.`;
  try {
    process.emitWarning(message, { type: 'SpanlineWarning', code: 'SPANLINE_TWO_COPIES' });
  } catch {
    // Programs replace emitWarning.
  }
};

/** A trace of the collector that shows its rows; undefined for one of another copy, or of anybody else. */
const ownPart = (trace: Trace): TracePart | undefined => {
  if (trace instanceof TracePart) return trace;
  if ('viewAt' in trace) noteOther();
  return undefined;
};

/** The traces of a batch of a collector, read by the library alone: what a program gets, it may keep. */
const tracesOf = (batch: ReportBatch): readonly Trace[] => (batch as PartBatch).parts ?? batch.traces;

export class BatchSpans {
  readonly #traces: readonly Trace[];
  #trace = -1;
  /** Numbers of the first span of the current trace, and of the first behind it. */
  #first = 0;
  #end = 0;
  #part: TracePart | undefined;
  readonly #scope: ArchivedScope;

  readonly #rows: RowView;
  /** Of records: made when a trace of another copy comes. */
  #records: ObjectView | undefined;

  /** @param scope What the views name as their recorder. */
  constructor(batch: ReportBatch, scope: ArchivedScope = OWN_SCOPE) {
    this.#traces = tracesOf(batch);
    this.#rows = new RowView(ownResource(batch.resource), scope);
    this.#scope = scope;
  }

  at(index: number): SpanRecord {
    return this.#traceOf(index).spanAt(index - this.#first);
  }

  /** The same as a view, good until the next call: no record is made where rows are at hand. */
  viewAt(index: number): FinishedSpan {
    const trace = this.#traceOf(index);
    const at = index - this.#first;
    if (this.#part !== undefined) return this.#part.viewAt(at, this.#rows);
    this.#records ??= new ObjectView(this.#rows.resource, this.#scope);
    return this.#records.of(trace.spanAt(at));
  }

  #traceOf(index: number): Trace {
    while (index < this.#first) this.#enter(this.#trace - 1);
    while (index >= this.#end) this.#enter(this.#trace + 1);
    return this.#traces[this.#trace];
  }

  #enter(number: number): void {
    const trace = this.#traces[number];
    this.#first = number > this.#trace ? this.#end : this.#first - trace.spanCount;
    this.#end = this.#first + trace.spanCount;
    this.#trace = number;
    this.#part = ownPart(trace);
  }
}
