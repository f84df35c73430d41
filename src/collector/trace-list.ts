// The open traces of a collector in order of age, so that the oldest can be found when a bound is reached. Links live
// in the traces themselves: opening and closing a trace must cost no look-up.
import type { ActiveTrace } from '../span/active-trace.js';

export class TraceList {
  private oldest: ActiveTrace | null = null;
  private newest: ActiveTrace | null = null;
  size = 0;

  get first(): ActiveTrace | null {
    return this.oldest;
  }

  add(trace: ActiveTrace): void {
    trace.isListed = true;
    trace.older = this.newest;
    if (this.newest === null) this.oldest = trace;
    else this.newest.newer = trace;
    this.newest = trace;
    this.size++;
  }

  remove(trace: ActiveTrace): void {
    if (!trace.isListed) return;
    trace.isListed = false;
    if (trace.older === null) this.oldest = trace.newer;
    else trace.older.newer = trace.newer;
    if (trace.newer === null) this.newest = trace.older;
    else trace.newer.older = trace.older;
    trace.older = null;
    trace.newer = null;
    this.size--;
  }
}
