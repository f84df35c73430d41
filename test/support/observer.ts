// An observer of a collector that looks at nothing and wants nothing, in place of the flight recorder; a test gives it what it is about.
import type { TraceObserver } from '../../src/collector/trace-part.js';

export const observerWith = (own: Partial<TraceObserver> = {}): TraceObserver => ({
  journal: null,
  openSpans: { add: () => -1, remove() {} },
  observe() {},
  ended: () => false,
  reporting() {},
  cancelled() {},
  observeMounted() {},
  ...own,
});
