// Traces with something finished that no reporter has yet. It alone counts what it holds; its bound is enforced by the collector. What a trace loses
// while it is here must leave the queue first.
import type { ActiveTrace, TraceQueue } from '../span/active-trace.js';

export class ReadyQueue implements TraceQueue {
  private readonly traces: ActiveTrace[] = [];
  spans = 0;
  bytes = 0;

  get length(): number {
    return this.traces.length;
  }

  add(trace: ActiveTrace): void {
    trace.queue = this;
    this.traces.push(trace);
    this.spans += trace.pending;
    this.bytes += trace.byteSize;
  }

  /** A queued trace got more. */
  grew(spans: number, bytes: number): void {
    this.spans += spans;
    this.bytes += bytes;
  }

  /** Everything queued; the queue is empty afterwards. */
  takeAll(): readonly ActiveTrace[] {
    // Out of the same array: one that waits for a while is an old object, and would keep its traces until old objects are collected.
    const traces = this.traces.splice(0);
    this.spans = 0;
    this.bytes = 0;
    for (const trace of traces) trace.queue = null;
    return traces;
  }

  /** The oldest quarter: taking one at a time from the front of an array would move the rest each time. */
  takeOldest(): readonly ActiveTrace[] {
    const traces = this.traces.splice(0, Math.ceil(this.traces.length / 4));
    for (const trace of traces) {
      this.spans -= trace.pending;
      this.bytes -= trace.byteSize;
      trace.queue = null;
    }
    return traces;
  }

  /** Take one out that is queued here, which is rare: one that was reported early and is cancelled, or that goes another way. */
  remove(trace: ActiveTrace): void {
    this.traces.splice(this.traces.lastIndexOf(trace), 1);
    this.spans -= trace.pending;
    this.bytes -= trace.byteSize;
    trace.queue = null;
  }
}
