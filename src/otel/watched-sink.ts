// Where spans go that a sampler wants recorded and not sampled: processors see them, nobody gets them, and their contexts go out as not sampled.
import { RowStore } from '../rows/row-store.js';
import type { ActiveTrace, TraceSink } from '../span/active-trace.js';

// Rows of a chunk.
const ROWS_OF_ONE = 64;

const watched = new WeakMap<TraceSink, TraceSink>();

const discard = (trace: ActiveTrace): void => trace.discard();

/** One for each collector, with its bounds and its resource, as they are set. */
export const watchedSink = (of: TraceSink): TraceSink => {
  let sink = watched.get(of);
  if (sink === undefined) {
    sink = {
      get sampler() {
        return of.sampler;
      },
      get limits() {
        return of.limits;
      },
      // One a trace, which goes with its handles: a root that never ends is in no bound.
      get rows() {
        return new RowStore(ROWS_OF_ONE);
      },
      reportsNothing: true,
      get resource() {
        return of.resource;
      },
      opened() {},
      ended: discard,
      cancelled: discard,
      grew() {},
      fateOf: () => 'dropped',
      returned() {},
    };
    watched.set(of, sink);
  }
  return sink;
};
