// TracePart: what is reported of one trace at one time. Takes over what an ActiveTrace holds and makes records on
// demand, so that an encoder can work in slices and a reporter that needs no records pays for none.
import type { ClockAnchor } from '../clock/index.js';
import type { ActiveTrace, MountedBatch } from '../span/active-trace.js';
import type { PendingSpan } from '../span/pending-span.js';
import { type SpanRecord, TraceIdentity } from '../trace/record.js';
import { recordOfLocal, recordOfSpan, SideIndex } from './make-record.js';
import type { Resource, Trace } from './reporter.js';

export class TracePart implements Trace {
  readonly spanCount: number;
  readonly byteSize: number;
  readonly isContinuation: boolean;
  readonly resource: Resource;
  private readonly source: ActiveTrace;
  private readonly ownSpans: PendingSpan[];
  private readonly batches: MountedBatch[];
  private readonly anchor: ClockAnchor;
  private made: SpanRecord[] | null = null;
  private cursor: Cursor | null = null;

  /** Takes everything pending out of `source`. */
  constructor(source: ActiveTrace, anchor: ClockAnchor, resource: Resource) {
    this.source = source;
    this.resource = resource;
    this.anchor = anchor;
    this.ownSpans = source.spans;
    this.batches = source.batches;
    this.spanCount = source.pending;
    this.byteSize = source.byteSize;
    this.isContinuation = source.reports > 0;
    source.reports++;
    source.clear();
    // Spans come in the order of their end, so the root is last; a reader wants it first.
    const root = this.ownSpans.length < 2 ? 0 : this.ownSpans.findIndex((span) => span.isRoot && span.trace === source);
    if (root > 0) this.ownSpans.unshift(...this.ownSpans.splice(root, 1));
  }

  get traceId(): string {
    return this.identity.traceId;
  }

  get spans(): readonly SpanRecord[] {
    if (this.made === null) {
      const made: SpanRecord[] = [];
      for (let i = 0; i < this.spanCount; i++) made.push(this.spanAt(i));
      this.made = made;
    }
    return this.made;
  }

  spanAt(index: number): SpanRecord {
    if (this.made !== null) return this.made[index];
    const own = this.ownSpans.length;
    if (index < own) return recordOfSpan(this.ownSpans[index], this.source, this.identity, this.anchor);
    this.cursor ??= new Cursor(this.batches);
    return this.cursor.recordAt(index - own, this.identity, this.anchor);
  }

  get hasRoot(): boolean {
    return this.ownSpans.length > 0 && this.ownSpans[0].isRoot;
  }

  get root(): SpanRecord | undefined {
    return this.hasRoot ? this.spanAt(0) : undefined;
  }

  get durationNs(): number {
    return this.root?.durationNs ?? 0;
  }

  get hasError(): boolean {
    return this.ownSpans.some((span) => span.status.code === 'error');
  }

  private get identity(): TraceIdentity {
    return identityOf(this.source);
  }
}

// One identity for all parts of a trace, so that its id is formatted once; kept on the trace, which knows no records.
const identityOf = (trace: ActiveTrace): TraceIdentity => {
  if (trace.identity === undefined) {
    const { w0, w1, w2, w3, traceState, isRandom } = trace.context;
    trace.identity = new TraceIdentity(w0 >>> 0, w1 >>> 0, w2 >>> 0, w3 >>> 0, traceState, isRandom);
  }
  return trace.identity as TraceIdentity;
};

/** Finds the batch of an index. Remembers the last one, because calls come in order. */
class Cursor {
  private at = 0;
  private first = 0;
  private side: SideIndex | null = null;

  constructor(private readonly batches: readonly MountedBatch[]) {
    this.enter(0);
  }

  recordAt(index: number, identity: TraceIdentity, anchor: ClockAnchor): SpanRecord {
    if (index < this.first) {
      this.first = 0;
      this.enter(0);
    }
    while (index >= this.first + this.batches[this.at].batch.count) {
      this.first += this.batches[this.at].batch.count;
      this.enter(this.at + 1);
    }
    return recordOfLocal(this.batches[this.at], index - this.first, this.side, identity, anchor);
  }

  private enter(at: number): void {
    this.at = at;
    const { side } = this.batches[at].batch;
    this.side = side === null ? null : new SideIndex(side);
  }
}
