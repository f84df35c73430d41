// The trampolines of a thread and their owners. A trampoline is a function that calls another function and must never be inlined by V8, or the frame
// that a sample is told apart by is not there; each has source text and a name of its own, for V8 does not tell closures of one text apart. A label
// takes one at its first call in a profile and gives it back when it is disposed or the profile ends. One that still runs is not handed on; when all
// are taken, labels share the overflow.
import { runInNewContext, runInThisContext } from 'node:vm';
import { timers } from 'spanline/internal/base';
import { ownCode } from './own-frames.js';
import { Counter, count } from './profile-counters.js';
import { monotonicUs } from './sample-clock.js';
import type { FramePool, Labelled } from './shared-state.js';
import { type LOST, TrampolineHistory } from './trampoline-history.js';

/** Calls `fn` and leaves a frame of its own on the stack while it runs. */
type Trampoline = <T>(fn: () => T) => T;

/** What keeps V8 from inlining. Neither way is promised by V8: a self-test decides. */
export type TrampolineKind = 'second-context' | 'padded';

/** The file name of every trampoline, as samples show it. */
const TRAMPOLINE_URL = 'spanline:trampoline';

/** What the names begin with that samples, perf and eBPF show; a number follows. */
const PREFIX = 'trampoline_';

/** The index in a function name of {@link TRAMPOLINE_URL}; -1 for any other function. */
export const trampolineIndex = (functionName: string, url: string): number =>
  url === TRAMPOLINE_URL && functionName.startsWith(PREFIX) ? Number(functionName.slice(PREFIX.length)) : -1;

// More bytecode than V8 inlines (460 to 920 bytes), in a branch that is never taken.
const PADDING_STATEMENTS = 400;
const padding = `if (fn === undefined) {${'fn = [fn];'.repeat(PADDING_STATEMENTS)}}`;

const sourceOf = (kind: TrampolineKind, first: number, count: number): string => {
  const body = `${kind === 'padded' ? padding : ''} return fn();`;
  return `[${Array.from({ length: count }, (_, i) => `function ${PREFIX}${first + i}(fn) { ${body} }`).join(',\n')}]`;
};

/** Trampolines number `first` and up. */
const makeTrampolines = (kind: TrampolineKind, first: number, count: number): readonly Trampoline[] => {
  const source = sourceOf(kind, first, count);
  const options = { filename: TRAMPOLINE_URL };
  // TurboFan inlines no function of another context. Maglev does where it knows the target: see TrampolinePool.run.
  const made: unknown = kind === 'padded' ? runInThisContext(source, options) : runInNewContext(source, {}, options);
  return Array.from(made as ArrayLike<Trampoline>);
};

const endOwnCode = ownCode();

const FIRST = 256;
const MAX_TRAMPOLINES = 8192;
/** The first ones are for no label. */
const OWN = 2;

/** Labels that share it cannot be told apart. */
export const OVERFLOW = Symbol('overflow');

/** What is around it on the stack is not for the call inside. */
export const APART = Symbol('apart');

interface Slot {
  readonly index: number;
  readonly call: Trampoline;
  owner: Labelled | undefined;
  /** Calls that have not returned. */
  inFlight: number;
  /** Microsecond of its last giving back. */
  freedUs: number;
}

export class TrampolinePool implements FramePool {
  private readonly history = new TrampolineHistory();
  private readonly slots: Slot[] = [];
  /** In order of giving back, so that one rests as long as possible. */
  private free: Slot[] = [];
  private nextFree = 0;
  private readonly overflow: Slot;
  /** A label that has its trampoline for ever. */
  private readonly apart: Labelled;
  private growth: NodeJS.Immediate | undefined;

  constructor(
    readonly kind: TrampolineKind,
    private readonly max = MAX_TRAMPOLINES,
  ) {
    const own = makeTrampolines(kind, 0, OWN).map((call, index) => this.addSlot(index, call));
    this.overflow = own[0];
    const slot = own[1];
    this.apart = { record: {}, slot, isDisposed: false, credit: () => undefined };
    slot.owner = this.apart;
    this.grow();
  }

  get size(): number {
    return this.slots.length - OWN;
  }

  run<T>(label: Labelled, fn: () => T): T {
    const last = label.slot as Slot | undefined;
    const slot = last !== undefined && last.owner === label ? last : this.acquire(label);
    slot.inFlight++;
    try {
      // One call for all trampolines: from the second on V8 knows no target here that it could inline.
      return slot.call(fn);
    } finally {
      if (--slot.inFlight === 0 && slot.owner === undefined) this.giveBack(slot);
    }
  }

  runApart<T>(fn: () => T): T {
    return this.run(this.apart, fn);
  }

  release(label: Labelled): void {
    const slot = label.slot as Slot | undefined;
    label.slot = undefined;
    if (slot === undefined || slot.owner !== label) return;
    slot.owner = undefined;
    if (slot.inFlight === 0) this.giveBack(slot);
    else count(Counter.trampolinesQuarantined);
  }

  /** Whom the trampoline of a frame worked for at the time of a sample. */
  labelAt(index: number, us: number): Labelled | typeof LOST | typeof OVERFLOW | typeof APART {
    if (index < OWN) return index === this.overflow.index ? OVERFLOW : APART;
    return this.history.labelAt(index, us);
  }

  /** End of a profile: every trampoline is given back, and what they worked for is forgotten. */
  reset(): void {
    for (const { owner } of this.slots) if (owner !== undefined && owner !== this.apart) this.release(owner);
    this.history.clear();
    timers.clearImmediate(this.growth);
    this.growth = undefined;
  }

  /** To be called from the event loop, where no call is under way: forgets those that node:vm terminated at a time limit. */
  settle(): void {
    for (const slot of this.slots) {
      if (slot.inFlight === 0) continue;
      slot.inFlight = 0;
      if (slot.owner === undefined) this.giveBack(slot);
    }
  }

  private acquire(label: Labelled): Slot {
    if (this.nextFree === this.free.length) this.grow();
    if (this.nextFree === this.free.length) {
      count(Counter.trampolinesExhausted);
      return this.overflow;
    }
    const slot = this.free[this.nextFree++];
    if (this.free.length - this.nextFree < this.size / 4) this.growSoon();
    // Samples are stamped in whole microseconds: one that holds the end of the last owner must not be the first of the next.
    let us = monotonicUs();
    while (us <= slot.freedUs) us = monotonicUs();
    this.history.append(slot.index, label, us);
    slot.owner = label;
    label.slot = slot;
    return slot;
  }

  private giveBack(slot: Slot): void {
    if (slot === this.overflow) return;
    slot.freedUs = monotonicUs();
    if (this.nextFree > this.size) {
      this.free = this.free.slice(this.nextFree);
      this.nextFree = 0;
    }
    this.free.push(slot);
  }

  private grow(): void {
    const before = this.slots.length;
    const wanted = Math.min(Math.max(this.size, FIRST), this.max - this.size);
    if (wanted <= 0) return;
    makeTrampolines(this.kind, before, wanted).forEach((call, i) => {
      this.free.push(this.addSlot(before + i, call));
    });
  }

  private addSlot(index: number, call: Trampoline): Slot {
    const slot = { index, call, owner: undefined, inFlight: 0, freedUs: 0 };
    this.slots.push(slot);
    return slot;
  }

  // Making hundreds takes a millisecond: between events, before the last is taken.
  private growSoon(): void {
    if (this.growth !== undefined || this.size >= this.max) return;
    this.growth = timers.setImmediate(() => {
      this.growth = undefined;
      this.grow();
    });
    this.growth.unref();
  }
}

endOwnCode();
