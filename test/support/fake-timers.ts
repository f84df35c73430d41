// Timers and clocks of the library that a test moves by hand. The library keeps its own from when it was loaded, which no fake of the globals
// reaches.
import { onTestFinished, vi } from 'vitest';
import { timers } from '../../src/base/calls/timers.js';

const OF_GLOBALS = {
  setTimeout: () => globalThis.setTimeout,
  clearTimeout: () => globalThis.clearTimeout,
  setInterval: () => globalThis.setInterval,
  performance: () => performance.now.bind(performance),
};

/** `vi.advanceTimersByTime` moves these, of the globals and of the library, until the test is over. */
export const fakeTimers = (...names: (keyof typeof OF_GLOBALS)[]): void => {
  const own = { ...timers };
  vi.useFakeTimers({ toFake: names });
  for (const name of names)
    Object.assign(timers, { [name === 'performance' ? 'monotonicMs' : name]: OF_GLOBALS[name]() });
  onTestFinished(() => {
    vi.useRealTimers();
    Object.assign(timers, own);
  });
};
