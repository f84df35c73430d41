// What views of our own spans have alike: who made them, and the ids of their trace. Encoders ask span by span: nothing here may allocate.
import type { ArchivedResource, ArchivedScope } from './archived-span.js';
import type { TraceIdentity } from './record.js';

/** A view of spans of our own, pointed at one span after another: `trace` is that of the span. */
export abstract class OwnTraceView {
  readonly areIdsWhole = true;
  trace!: TraceIdentity;

  /** Who recorded the span: as its own library says, or this one. */
  scope: ArchivedScope;

  constructor(
    public resource: ArchivedResource,
    protected readonly ownScope: ArchivedScope,
  ) {
    this.scope = ownScope;
  }

  get trace0(): number {
    return this.trace.w0;
  }
  get trace1(): number {
    return this.trace.w1;
  }
  get trace2(): number {
    return this.trace.w2;
  }
  get trace3(): number {
    return this.trace.w3;
  }
  get traceState(): string {
    return this.trace.traceState;
  }
}
