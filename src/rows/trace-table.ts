// The table of traces: a record of sixteen words a trace, beside the rows that name it by its number. It contains what a trace is and sums up, not what its
// states mean (collector/trace-life). Must never hold an object a trace: what waits for a report would outlive the young generation.
//
// Then where traces wait, as numbers of the table: open ones in order of age, finished ones for a report, and the sums of what they hold. A list alone changes
// its sums; who decides which traces are in which is above.
import type { PropertyList } from './property.js';

/** The words of a trace. */
export const TraceWord = {
  /** Which of the traces that had this number; 0 while it is free. */
  serial: 0,
  /** A state of `collector/trace-life`. */
  state: 1,
  /** {@link TraceBit}. */
  bits: 2,
  /** The trace id, four signed words, most significant first. */
  id: 3,
  /** Spans that wait here, and those of them that are in mounted batches and have no row in the store. */
  spans: 7,
  mounted: 8,
  /** Bytes of all of them, with {@link TRACE_BYTES}. */
  bytes: 9,
  /** Spans that found no place in the trace. */
  refused: 10,
  /** Neighbours in the list of open traces. */
  older: 11,
  newer: 12,
  /** Numbers of the first and the last block of the observer that have rows of it; -1 while none has. */
  heldFrom: 13,
  heldTo: 14,
} as const;

/** Words of a trace: a line of a cache. */
export const TRACE_STRIDE = 16;

/** What a trace takes beside its rows: its words and places in lists, and from its report to its delivery the part that is reported. */
export const TRACE_BYTES = 320;

export const TraceBit = {
  /** It will be reported; without it, it is recorded for the observer alone. */
  sampled: 1,
  /** The random flag of its id. */
  random: 2,
  /** It is reported whatever `keep` decides. */
  mustReport: 4,
  /** A part of it was reported or dropped before. */
  continuation: 8,
  /** What it gets is for the observer alone, because a bound, `keep` or the shutdown dropped it. */
  dropped: 16,
  /** The observer must not see its rows. */
  hidden: 32,
  /** Its rows are wanted by nobody, and wait for the next pass over the chunks. */
  unwanted: 64,
  // Which objects of its own the table has: few traces have any, and nothing is read or written for the others.
  ownResource: 128,
  ownAnchor: 256,
  traceState: 512,
} as const;

const OWN_OBJECTS = TraceBit.ownResource | TraceBit.ownAnchor | TraceBit.traceState;

/** The identity of a trace. */
export interface TraceKey {
  readonly w0: number;
  readonly w1: number;
  readonly w2: number;
  readonly w3: number;
  readonly traceState: string;
  readonly isRandom: boolean;
}

/** Spans beside the rows of the store that belong to a trace. */
export interface MountedSpans {
  readonly count: number;
}

/** On the root of a trace that `maxSpansPerTrace` has cut: how many spans were left out until it was reported. */
const DROPPED_SPANS = 'spanline.dropped_spans';

const FIRST_CAPACITY = 16;
/** Of so many traces, the last ones at least, it is remembered that they were dropped: a power of two. */
const MAX_DROPPED = 1 << 17;

export class TraceTable {
  words = new Int32Array(FIRST_CAPACITY * TRACE_STRIDE);
  // Of those that have the bit for it.
  private readonly resources: unknown[] = [];
  private readonly anchors: unknown[] = [];
  private readonly traceStates: string[] = [];
  // The producer of all others.
  private resource: unknown = undefined;
  /** Of the few that have them. */
  readonly mounts = new Map<number, MountedSpans[]>();
  // Numbers that nobody has, outside the heap as the words are.
  private free = new Int32Array(FIRST_CAPACITY);
  private freeCount = 0;
  private lastSerial = 0;
  // Serial numbers, each at a place that it shares with those so many before and behind it. Made with the first: most programs drop nothing.
  private dropped: Int32Array | null = null;
  /** Numbers are below. */
  size = 0;

  /** A number for a trace, which is in no list and has no spans yet. `serial` is that of one which had a number before. */
  acquire(key: TraceKey, resource: unknown, bits: number, serial?: number): number {
    const number = this.freeCount > 0 ? this.free[--this.freeCount] : this.add();
    const { words } = this;
    const at = number * TRACE_STRIDE;
    words[at + TraceWord.serial] = serial ?? this.nextSerial();
    words[at + TraceWord.state] = 0;
    words[at + TraceWord.bits] = key.isRandom ? bits | TraceBit.random : bits;
    words[at + TraceWord.id] = key.w0;
    words[at + TraceWord.id + 1] = key.w1;
    words[at + TraceWord.id + 2] = key.w2;
    words[at + TraceWord.id + 3] = key.w3;
    words[at + TraceWord.spans] = 0;
    words[at + TraceWord.mounted] = 0;
    words[at + TraceWord.bytes] = TRACE_BYTES;
    words[at + TraceWord.refused] = 0;
    words[at + TraceWord.heldFrom] = -1;
    words[at + TraceWord.heldTo] = -1;
    if (resource !== this.resource) this.takeResource(number, resource, serial === undefined);
    if (key.traceState !== '') {
      this.traceStates[number] = key.traceState;
      this.setBits(number, TraceBit.traceState);
    }
    return number;
  }

  /** Who produced it. */
  resourceOf(number: number): unknown {
    return this.has(number, TraceBit.ownResource) ? this.resources[number] : this.resource;
  }

  /** How its ticks become Unix time; undefined until that is chosen. */
  anchorOf(number: number): unknown {
    return this.has(number, TraceBit.ownAnchor) ? this.anchors[number] : undefined;
  }
  setAnchor(number: number, anchor: unknown): void {
    this.anchors[number] = anchor;
    this.setBits(number, TraceBit.ownAnchor);
  }

  traceStateOf(number: number): string {
    return this.has(number, TraceBit.traceState) ? this.traceStates[number] : '';
  }

  /** The number belongs to nobody. No row may name it. */
  release(number: number): void {
    this.disown(number);
    this.emptied(number);
    if (this.has(number, OWN_OBJECTS)) this.forgetObjects(number);
    this.free[this.freeCount++] = number;
  }

  /** The trace that had the number has it no longer; rows may still name it. */
  disown(number: number): void {
    this.words[number * TRACE_STRIDE + TraceWord.serial] = 0;
  }

  get(number: number, word: number): number {
    return this.words[number * TRACE_STRIDE + word];
  }

  set(number: number, word: number, value: number): void {
    this.words[number * TRACE_STRIDE + word] = value;
  }

  has(number: number, bit: number): boolean {
    return (this.words[number * TRACE_STRIDE + TraceWord.bits] & bit) !== 0;
  }

  setBits(number: number, bits: number): void {
    this.words[number * TRACE_STRIDE + TraceWord.bits] |= bits;
  }

  clearBits(number: number, bits: number): void {
    this.words[number * TRACE_STRIDE + TraceWord.bits] &= ~bits;
  }

  /** The trace got more. Gives its state: whoever asks next has looked here already. */
  grow(number: number, spans: number, bytes: number): number {
    const { words } = this;
    const at = number * TRACE_STRIDE;
    words[at + TraceWord.spans] += spans;
    words[at + TraceWord.bytes] += bytes;
    return words[at + TraceWord.state];
  }

  /** What waited is in other hands. */
  emptied(number: number): void {
    const at = number * TRACE_STRIDE;
    if (this.words[at + TraceWord.mounted] !== 0) this.mounts.delete(number);
    this.words[at + TraceWord.spans] = 0;
    this.words[at + TraceWord.mounted] = 0;
    this.words[at + TraceWord.bytes] = TRACE_BYTES;
  }

  /** What it has so far was taken: what comes later continues it, and goes by the same anchor. */
  continues(number: number, anchor: unknown): void {
    this.emptied(number);
    this.setBits(number, TraceBit.continuation);
    if (this.anchorOf(number) === undefined) this.setAnchor(number, anchor);
  }

  /** Spans that have a row in the store. */
  stored(number: number): number {
    const at = number * TRACE_STRIDE;
    return this.words[at + TraceWord.spans] - this.words[at + TraceWord.mounted];
  }

  /** Beside the rows of the store. */
  mount(number: number, spans: MountedSpans): void {
    this.words[number * TRACE_STRIDE + TraceWord.mounted] += spans.count;
    const mounts = this.mounts.get(number);
    if (mounts === undefined) this.mounts.set(number, [spans]);
    else mounts.push(spans);
  }

  /** The identity of a trace. */
  keyOf(number: number): TraceKey {
    const { words } = this;
    const at = number * TRACE_STRIDE + TraceWord.id;
    const [w0, w1, w2, w3] = [words[at], words[at + 1], words[at + 2], words[at + 3]];
    return { w0, w1, w2, w3, traceState: this.traceStateOf(number), isRandom: this.has(number, TraceBit.random) };
  }

  /** Properties of its root that are known only when it is taken. */
  rootProperties(number: number): PropertyList | undefined {
    const refused = this.get(number, TraceWord.refused);
    return refused === 0 ? undefined : [DROPPED_SPANS, refused];
  }

  /** Nothing of the trace is reported any more: for a holder that still has it when its number is another's. */
  setDropped(serial: number): void {
    this.dropped ??= new Int32Array(MAX_DROPPED);
    this.dropped[serial & (MAX_DROPPED - 1)] = serial;
  }

  /** Whether it was; false when that is forgotten. */
  wasDropped(serial: number): boolean {
    return this.dropped !== null && this.dropped[serial & (MAX_DROPPED - 1)] === serial;
  }

  // A trace that begins has the resource that those after it will have: those before get it as their own. One that comes back may have an earlier one.
  private takeResource(number: number, resource: unknown, isNew: boolean): void {
    if (!isNew || resource === undefined) {
      this.ownResource(number, resource);
      return;
    }
    for (let other = 0; other < this.size; other++) {
      if (other !== number && !this.has(other, TraceBit.ownResource)) this.ownResource(other, this.resource);
    }
    this.resource = resource;
  }

  private ownResource(number: number, resource: unknown): void {
    this.resources[number] = resource;
    this.setBits(number, TraceBit.ownResource);
  }

  private forgetObjects(number: number): void {
    this.resources[number] = undefined;
    this.anchors[number] = undefined;
    this.traceStates[number] = '';
    this.clearBits(number, OWN_OBJECTS);
  }

  private nextSerial(): number {
    this.lastSerial = (this.lastSerial + 1) | 0 || 1;
    return this.lastSerial;
  }

  private add(): number {
    const { words } = this;
    if ((this.size + 1) * TRACE_STRIDE > words.length) {
      this.words = new Int32Array(words.length * 2);
      this.words.set(words);
      // None is free now.
      this.free = new Int32Array(2 * this.size);
    }
    this.resources.push(undefined);
    this.anchors.push(undefined);
    this.traceStates.push('');
    return this.size++;
  }
}

const NONE = -1;

export class OpenTraces {
  /** Numbers of the ends of the list; -1 when it is empty. */
  oldest = NONE;
  private newest = NONE;
  size = 0;
  bytes = 0;

  constructor(private readonly traces: TraceTable) {}

  /** The one that was opened next; -1 behind the newest. */
  after(number: number): number {
    return this.traces.get(number, TraceWord.newer);
  }

  add(number: number): void {
    const { traces, newest } = this;
    traces.set(number, TraceWord.older, newest);
    traces.set(number, TraceWord.newer, NONE);
    if (newest === NONE) this.oldest = number;
    else traces.set(newest, TraceWord.newer, number);
    this.newest = number;
    this.size++;
    this.bytes += traces.get(number, TraceWord.bytes);
  }

  /** Take one out, with what it holds. */
  remove(number: number): void {
    const { traces } = this;
    const older = traces.get(number, TraceWord.older);
    const newer = traces.get(number, TraceWord.newer);
    if (older === NONE) this.oldest = newer;
    else traces.set(older, TraceWord.newer, newer);
    if (newer === NONE) this.newest = older;
    else traces.set(newer, TraceWord.older, older);
    this.size--;
    this.bytes -= traces.get(number, TraceWord.bytes);
  }
}

const FIRST_QUEUED = 64;

export class TraceQueue {
  // Outside the heap: an array that grows to thousands of numbers between two reports is copied by every collection of young objects.
  private numbers = new Int32Array(FIRST_QUEUED);
  length = 0;
  spans = 0;
  bytes = 0;

  constructor(private readonly traces: TraceTable) {}

  add(number: number): void {
    if (this.length === this.numbers.length) this.lengthen();
    this.numbers[this.length++] = number;
    this.grew(this.traces.get(number, TraceWord.spans), this.traces.get(number, TraceWord.bytes));
  }

  /** A trace that waits here got more. */
  grew(spans: number, bytes: number): void {
    this.spans += spans;
    this.bytes += bytes;
  }

  /** Everything that waits; nothing does afterwards. */
  takeAll(): Int32Array {
    const numbers = this.numbers.slice(0, this.length);
    this.length = 0;
    this.spans = 0;
    this.bytes = 0;
    return numbers;
  }

  /** The oldest quarter: taking one at a time from the front would move the rest each time. */
  takeOldest(): Int32Array {
    const count = Math.ceil(this.length / 4);
    const numbers = this.numbers.slice(0, count);
    for (const number of numbers) this.left(number);
    this.numbers.copyWithin(0, count, this.length);
    this.length -= count;
    return numbers;
  }

  /** Take one out before its turn, which is rare: one that was reported early and is cancelled, or that goes another way. */
  remove(number: number): void {
    const at = this.numbers.subarray(0, this.length).lastIndexOf(number);
    this.numbers.copyWithin(at, at + 1, this.length);
    this.length--;
    this.left(number);
  }

  private left(number: number): void {
    this.grew(-this.traces.get(number, TraceWord.spans), -this.traces.get(number, TraceWord.bytes));
  }

  private lengthen(): void {
    const { numbers } = this;
    this.numbers = new Int32Array(numbers.length * 2);
    this.numbers.set(numbers);
  }
}
