// Counters of everything the library refused, dropped or saw misused. Counting must never throw or allocate. An argument that cannot be what was meant is said
// too, once a mistake and in any mode, since what was meant is lost.
import { warn } from '../base/calls/attempt.js';
import { state } from '../context/process-state.js';

/** Slot of each counter; the names are those of `stats()`. Append only: copies of the library share the slots. */
export const Counter = {
  localSpansWithoutParent: 0,
  localSpansOverCap: 1,
  localSpansClosedOutOfOrder: 2,
  localSpansLeftOpen: 3,
  staleHandles: 4,
  endedTwice: 5,
  changedAfterEnd: 6,
  cancelOnNonRoot: 7,
  spansWithoutParent: 8,
  spansOverTraceCap: 9,
  spansOfDiscardedTraces: 10,
  spansLate: 11,
  tracesStarted: 12,
  tracesUnsampled: 13,
  tracesCancelled: 14,
  tracesNotKept: 15,
  tracesEvicted: 16,
  propertiesInvalid: 17,
  propertiesOverCap: 18,
  eventsOverCap: 19,
  linksOverCap: 20,
  callbackErrors: 21,
  traceparentsInvalid: 22,
  mountsAfterReport: 23,
  linksInvalid: 24,
  argumentsInvalid: 25,
  instrumentationErrors: 26,
  baggageEntriesDropped: 27,
  readNamesLeftOut: 28,
} as const;

export type CounterName = keyof typeof Counter;

const slots = state.counters;

/** Add one to a counter. */
export const count = (slot: number): void => {
  slots[slot]++;
};

/** Add `n` to a counter. */
export const countMany = (slot: number, n: number): void => {
  slots[slot] += n;
};

/** All counters by name. */
export const readCounters = (): Record<CounterName, number> => {
  const out = {} as Record<CounterName, number>;
  for (const name of Object.keys(Counter) as CounterName[]) out[name] = slots[Counter[name]];
  return out;
};

const warned = new Set<string>();

/** Count an argument that cannot be what was meant, and say once which call is: `remedy` is a fixed text. */
export const wrongArgument = (remedy: string): void => {
  count(Counter.argumentsInvalid);
  if (warned.has(remedy)) return;
  warned.add(remedy);
  warn(remedy, 'SPANLINE_WRONG_ARGUMENT');
};
