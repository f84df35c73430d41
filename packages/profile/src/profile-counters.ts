// Counters of everything this room refused, overwrote or could not tell, for one thread. Counting must never throw or
// allocate.
import { ownCode } from './own-frames.js';
import { register } from './shared-state.js';

const endOwnCode = ownCode();

/** Slot of each counter; the names are those of `stats()`. Append only: copies of the library share the slots. */
export const Counter = {
  /** Keys or values of labels that were cut to their bound. */
  labelTextCut: 0,
  /** Labels beyond the number one record may hold. */
  labelKeysOverCap: 1,
  /** Nestings beyond the depth that is kept; the outermost label was left out. */
  nestingOverCap: 2,
  /** Calls of a label after its disposal. */
  staleLabels: 3,
  /** Labels that found no room in the table of a profile. */
  labelsOverCap: 4,
  /** Labels that found no free trampoline. */
  trampolinesExhausted: 5,
  /** Labels disposed while one of their calls ran. */
  trampolinesQuarantined: 6,
  /** Samples whose label had been overwritten or was never noted. */
  samplesLost: 7,
  /** Notes that the signal handler had no room for. */
  notesRefused: 8,
  /** Profiles that another SIGPROF handler took the signal from. */
  handlersDisplaced: 9,
  /** Profiles finished. */
  profiles: 10,
  /** Rotations left out by the budget of a continuous profiler. */
  budgetPauses: 11,
  /** Profiles ended by their budget before their time. */
  budgetStops: 12,
  /** Failures of a sink of a continuous profiler. */
  sinkErrors: 13,
  /** Finished profiles dropped because the sink had not taken the ones before. */
  profilesDropped: 14,
  /** Samples that V8 took by itself, when it threw optimised code away; they stand for no time and are left out. */
  samplesUnasked: 15,
  /** Profiles ended because they had as many samples as one may hold. */
  sampleStops: 16,
} as const;

export type CounterName = keyof typeof Counter;

const slots = register.counters;

/** Add `n` to a counter. */
export const count = (slot: number, n = 1): void => {
  slots[slot] += n;
};

/** All counters by name. */
export const readCounters = (): Record<CounterName, number> => {
  const out = {} as Record<CounterName, number>;
  for (const name of Object.keys(Counter) as CounterName[]) out[name] = slots[Counter[name]];
  return out;
};

endOwnCode();
