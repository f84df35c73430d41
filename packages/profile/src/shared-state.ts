// What every copy of this room in a thread must share (an ES module build and a CommonJS build may both be loaded): the label register and its cell,
// for there is one cell a thread that the signal handler reads; nothing else in the room is global. And the way from scope to scope: two stores, and
// a look at whether a sample was taken since the last look. Only scopes that a sample may have met become known to a profile, so that those of
// millions of spans cost it nothing. The order of the lines counts: the signal handler runs between any two, and must never find an id whose scope
// goes unseen.

import { type Mark, mark, sharedState } from 'spanline/internal/base';
import type { LabelRecord } from './labelled-profile.js';

const begin = mark();

/** Everything between two marks of one file. */
export interface OwnCode {
  readonly begin: Mark;
  readonly end: Mark;
}

/** What a scope needs of a label: its text, and a place for the CPU time found for it. */
export interface Labelled {
  readonly record: LabelRecord;
  /** The trampoline it was last given; the pool's own. */
  slot: unknown;
  /** True when nobody will release it any more: whoever gives it a trampoline takes that back. */
  readonly isDisposed: boolean;
  /** Called for each sample of a finished profile that worked for this label. */
  credit(cpuNs: number): void;
}

/**
 * What is labelled now: the innermost label and the scope around it. Made once per pair and remembered by the label, so that
 * entering is two stores.
 */
export class Scope {
  constructor(
    /** What the cell holds while this scope is current; 0 for no label. */
    readonly id: number,
    /** Undefined for no label. */
    readonly label: Labelled | undefined,
    readonly outer: Scope | undefined,
    readonly depth: number,
  ) {}
}

/** Runs a function so that a frame on the stack tells the label; see trampoline-pool.ts. */
export interface FramePool {
  run<T>(label: Labelled, fn: () => T): T;
  /** Runs a function so that the frames around the call tell nothing of it. */
  runApart<T>(fn: () => T): T;
  /** The label is disposed: another may have its trampoline. */
  release(label: Labelled): void;
}

/** The label register of a thread. */
interface Register {
  /** Innermost scope of what runs now; see `makeCurrent`. */
  current: Scope;
  /** Set while calls of labels must leave a frame on the stack. */
  pool: FramePool | undefined;
  nextId: number;
  /** Set while a profile is taken: takes the scopes that samples may have met. */
  enroll: ((scope: Scope) => void) | undefined;
  /** Set while a profile waits with following continuations for an asynchronous scope: begins with it. */
  follow: (() => void) | undefined;
  /** True while a profile is taken or a self-test runs, by any copy of the library. */
  isBusy: boolean;
  /** True when the addon reads `cell`: once and for the life of the thread, for the cell does not move. */
  isAttached: boolean;
  /** No label. */
  readonly none: Scope;
  /** Element 0 is the id of `current`, where the signal handler finds it; it sets element 1 with each sample. */
  readonly cell: Int32Array;
  readonly counters: Float64Array;
  /** Where the code of labels is, of every copy of the library. */
  readonly ownCode: OwnCode[];
}

const COUNTER_SLOTS = 32;
// A cache line of its own, and off V8's heap, where the address stays.
const CELL_BYTES = 64;

// What labels nothing and the label register are one object of the same copy, or no scope would be known as none.
const create = ({ none = new Scope(0, undefined, undefined, 0) }: Partial<Register>): Register => ({
  current: none,
  pool: undefined,
  nextId: 1,
  enroll: undefined,
  follow: undefined,
  isBusy: false,
  isAttached: false,
  none,
  cell: new Int32Array(new SharedArrayBuffer(CELL_BYTES)),
  counters: new Float64Array(COUNTER_SLOTS),
  ownCode: [],
});

/** The register of this thread (a worker thread has its own). */
export const register: Register = sharedState('spanline.profile.0', create);

/** No label. */
export const NO_SCOPE = register.none;

/** Elements of the cell; see `Register.cell`. */
export const LABEL_ID = 0;
export const IS_SAMPLED = 1;

const { cell } = register;

/** A sample was taken, in the scope that was left, in one around it, or in the one that is current by now. */
export const enrollSampled = (left: Scope): void => {
  // First: what is sampled from here on is seen by the next look.
  cell[IS_SAMPLED] = 0;
  const { enroll } = register;
  if (enroll === undefined) return;
  for (let at: Scope | undefined = left; at !== undefined; at = at.outer) enroll(at);
  enroll(register.current);
};

/** From now on samples belong to `scope`. */
export const makeCurrent = (scope: Scope): void => {
  const left = register.current;
  register.current = scope;
  cell[LABEL_ID] = scope.id;
  if (cell[IS_SAMPLED] !== 0) enrollSampled(left);
};

/** What is between two marks is the library's; nothing where V8 gave no place. */
export const addOwnCode = (begin: Mark | undefined, end: Mark | undefined): void => {
  if (begin === undefined || end === undefined || begin.url === '' || begin.url !== end.url) return;
  register.ownCode.push({ begin, end });
};

addOwnCode(begin, mark());
