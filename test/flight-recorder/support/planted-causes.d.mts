// Types of planted-causes.mjs.
import type {
  breakdownIndexOf,
  formatBreakdown,
  Snapshot,
  Stall,
  stalls,
  TimeBreakdown,
  timeBreakdown,
} from '../../../src/flight-recorder/index.js';

export type Cause = 'parse' | 'regex' | 'garbage' | 'timer' | 'query' | 'hashes' | 'names' | 'innocent';
export declare const CAUSES: readonly Cause[];

/** A request of the planted service. */
export interface Asked {
  readonly path: string;
  readonly traceId: string;
  readonly text: string;
  readonly breakdown: TimeBreakdown;
  readonly calls: readonly { readonly name: string; readonly us: number }[];
}

export interface Seen {
  readonly asked: readonly Asked[];
  readonly stalls: readonly Stall[];
}

export interface Recorder {
  readonly timeBreakdown: typeof timeBreakdown;
  readonly breakdownIndexOf: typeof breakdownIndexOf;
  readonly formatBreakdown: typeof formatBreakdown;
  readonly stalls: typeof stalls;
}

export declare const lookAt: (snapshot: Snapshot, recorder: Recorder) => Seen;
export declare const namedCauses: (seen: Seen) => Record<Cause, boolean>;
export declare const evidence: (seen: Seen) => string;
