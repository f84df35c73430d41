// Where spans go that a sampler wants recorded and not sampled: processors see them, nobody gets them, and their contexts go out as not sampled.
import type { ActiveTrace, TraceSink } from '../span/active-trace.js';

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
      rows: of.rows,
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
