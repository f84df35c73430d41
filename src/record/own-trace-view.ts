// What views of our own spans have alike: who made them, and the ids of their trace. Encoders ask span by span: nothing here may allocate.
import type { ArchivedResource, ArchivedScope } from './archived-span.js';

/** What views need of a trace. Words of the id may be signed. */
export interface ViewedTrace {
  readonly w0: number;
  readonly w1: number;
  readonly w2: number;
  readonly w3: number;
  readonly traceState: string;
  readonly isRandom: boolean;
  readonly traceId: string;
}

/** A view of spans of our own, pointed at one span after another: `trace` is that of the span. */
export abstract class OwnTraceView {
  readonly areIdsWhole = true;
  trace!: ViewedTrace;

  /** Who recorded the span: as its own library says, or this one. */
  scope: ArchivedScope;

  constructor(
    public resource: ArchivedResource,
    protected readonly ownScope: ArchivedScope,
  ) {
    this.scope = ownScope;
  }

  get trace0(): number {
    return this.trace.w0 >>> 0;
  }
  get trace1(): number {
    return this.trace.w1 >>> 0;
  }
  get trace2(): number {
    return this.trace.w2 >>> 0;
  }
  get trace3(): number {
    return this.trace.w3 >>> 0;
  }
  get traceState(): string {
    return this.trace.traceState;
  }
}
