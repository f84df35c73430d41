// The rings of the timeline, all bounded: rows that the addon writes, in one array of numbers, in step with native/tsc/src/timeline.cc; parts of
// busy turns, made of samples as they come, which contain only what samples prove (what ran in one piece from the request of a sample to its
// service, and what two neighbouring samples agree on); and stretches of a millisecond and more in which the function given to `span.run` had the
// event loop, up to its first await. Called in the middle of any code, recording code included: must not throw, change nothing that it reads, grow
// by nothing, nor keep a span alive.
import { getOrMake } from '../../base/maps/maps.js';
import type { SpanQueue } from '../../local-span/local-span.js';
import type { Span } from '../../span/span.js';
import { spanHex, traceHex } from '../../span/span-context.js';
import { innermostFrame, isSameFunction, outermostFrame, type RawFrames } from './frames.js';
import { type TimelineRow, unixNow } from './timeline-row.js';

interface Run {
  startUs: number;
  endUs: number;
  readonly owner: Owner;
}

export class RunRing {
  readonly #runs: Run[] = [];
  readonly #maxRuns: number;
  #written = 0;
  /** Unix time in microseconds from which on none is missing. */
  keptFromUs = Number.NEGATIVE_INFINITY;

  constructor(maxRuns: number) {
    this.#maxRuns = maxRuns;
  }

  get count(): number {
    return this.#runs.length;
  }

  /** Those that later ones have taken the place of. */
  get dropped(): number {
    return this.#written - this.#runs.length;
  }

  /** The work on `queue` has just ended, `ns` nanoseconds after its start. One that does not record is nobody's. */
  add(queue: SpanQueue, ns: number): void {
    if (!queue.mount.isSpan || (queue.mount as Span).trace === null) return;
    const place = this.#written % this.#maxRuns;
    const run = this.#runs[place] ?? { startUs: 0, endUs: 0, owner: noOwner() };
    if (this.#written >= this.#maxRuns) this.keptFromUs = run.endUs;
    readOwner(queue, run.owner);
    run.owner.mount = null;
    run.endUs = unixNow();
    run.startUs = run.endUs - ns / 1000;
    this.#runs[place] = run;
    this.#written++;
  }

  /** Those that end after `sinceUs`, the newest first. */
  rows(sinceUs: number): TimelineRow[] {
    const rows: TimelineRow[] = [];
    for (let i = this.#written - 1; i >= this.dropped; i--) {
      const { startUs, endUs, owner } = this.#runs[i % this.#maxRuns];
      if (endUs <= sinceUs) break;
      const part = { startUs, endUs, traceId: traceIdOf(owner), spanId: spanIdOf(owner), name: owner.name, frames: [] };
      rows.push({ kind: 'run', startUs, endUs, detail: '', parts: [part] });
    }
    return rows;
  }
}

/** The span that had the loop, as it was when the sample was taken: the span itself may end, and be dropped. */
interface Owner {
  /** Null for work that no span covers. */
  mount: object | null;
  name: string;
  w0: number;
  w1: number;
  w2: number;
  w3: number;
  idHi: number;
  idLo: number;
}

export const noOwner = (): Owner => ({ mount: null, name: '', w0: 0, w1: 0, w2: 0, w3: 0, idHi: 0, idLo: 0 });

/** Put the span of `queue` into `owner`. One that does not record has a name and no ids. */
const readOwner = (queue: SpanQueue | undefined, owner: Owner): void => {
  owner.mount = null;
  owner.name = '';
  owner.w0 = owner.w1 = owner.w2 = owner.w3 = owner.idHi = owner.idLo = 0;
  if (queue === undefined || !queue.mount.isSpan) return;
  const span = queue.mount as Span;
  if (span.name === '') return;
  owner.mount = span;
  owner.name = span.name;
  if (span.trace === null) return;
  const { context } = span.trace;
  owner.w0 = context.w0;
  owner.w1 = context.w1;
  owner.w2 = context.w2;
  owner.w3 = context.w3;
  owner.idHi = span.idHi;
  owner.idLo = span.idLo;
};

/** '' for one that does not record. */
export const traceIdOf = ({ w0, w1, w2, w3, idHi, idLo }: Owner): string =>
  (idHi | idLo) === 0 ? '' : traceHex(w0, w1, w2, w3);

/** '' for one that does not record. */
export const spanIdOf = ({ idHi, idLo }: Owner): string => ((idHi | idLo) === 0 ? '' : spanHex(idHi, idLo));

/** A part, in nanoseconds of the timeline's clock. */
export interface Part {
  turn: number;
  startNs: number;
  endNs: number;
  readonly owner: Owner;
  frames: RawFrames;
  /** How far samples in the function of `frames` are ahead of the others: the function that most were in stays. */
  votes: number;
}

/** A sample as the addon gives it. */
interface Sample {
  readonly turn: number;
  readonly requestedNs: number;
  readonly servedNs: number;
  /** Whether one piece of work ran from the request to the service, or none is known to. */
  readonly isSame: boolean;
  /** Whether the task and the scope are those of the sample before: then it does not matter how long ago that was. */
  readonly isGoingOn: boolean;
  readonly frames: RawFrames;
}

const NO_FRAMES: RawFrames = [];

export class PartRing {
  readonly #parts: Part[];
  // Samples further apart prove nothing of what is between them.
  readonly #maxGapNs: number;
  readonly #owner = noOwner();
  #written = 0;
  // Whether the sample before was of the newest part.
  #isOpen = false;
  /** Samples without a known owner. */
  unknown = 0;

  constructor(maxParts: number, maxGapNs: number) {
    this.#maxGapNs = maxGapNs;
    // All at once: a sample must find its place made.
    this.#parts = Array.from({ length: maxParts }, () => ({
      turn: 0,
      startNs: 0,
      endNs: 0,
      owner: noOwner(),
      frames: NO_FRAMES,
      votes: 0,
    }));
  }

  /** Parts that later ones have taken the place of. */
  get dropped(): number {
    return Math.max(0, this.#written - this.#parts.length);
  }

  /** `queue` is what was current. */
  add(sample: Sample, queue: SpanQueue | undefined): void {
    const { turn, servedNs, frames } = sample;
    readOwner(queue, this.#owner);
    const outermost = outermostFrame(frames);
    // Node's own code between two callbacks: the owner of the work that it ends is unknown.
    if (this.#owner.mount === null && outermost < 0) {
      this.lose();
      return;
    }
    if (!sample.isSame) this.unknown++;
    const startNs = sample.isSame ? sample.requestedNs : servedNs;
    const newest = this.#written === 0 ? undefined : this.#parts[(this.#written - 1) % this.#parts.length];
    if (newest !== undefined && this.#isOpen && this.#goesOn(newest, sample, startNs, outermost)) {
      newest.endNs = servedNs;
      vote(newest, frames);
      return;
    }
    const part = this.#parts[this.#written++ % this.#parts.length];
    // Only the newest needs its span to be compared with; a ring must not keep thousands alive.
    if (newest !== undefined) newest.owner.mount = null;
    part.turn = turn;
    part.startNs = startNs;
    part.endNs = servedNs;
    Object.assign(part.owner, this.#owner);
    part.frames = frames;
    part.votes = 1;
    this.#isOpen = true;
  }

  /** A sample without information: what is before it and what comes after are not neighbours. */
  lose(): void {
    this.unknown++;
    this.#isOpen = false;
  }

  /** By turn from `firstTurn` on, each in order of time. Those without a length prove nothing. */
  byTurn(firstTurn = 0): Map<number, Part[]> {
    const found = new Map<number, Part[]>();
    const { length } = this.#parts;
    let first = this.#written;
    while (first > Math.max(0, this.#written - length) && this.#parts[(first - 1) % length].turn >= firstTurn) first--;
    for (let i = first; i < this.#written; i++) {
      const part = this.#parts[i % length];
      if (part.endNs <= part.startNs) continue;
      getOrMake(found, part.turn, () => []).push(part);
    }
    return found;
  }

  #goesOn(newest: Part, { turn, isGoingOn, frames }: Sample, startNs: number, outermost: number): boolean {
    if (newest.turn !== turn || (!isGoingOn && startNs - newest.endNs > this.#maxGapNs)) return false;
    if (newest.owner.mount !== this.#owner.mount) return false;
    if (this.#owner.mount !== null) return true;
    return isSameFunction(newest.frames, outermostFrame(newest.frames), frames, outermost);
  }
}

const vote = (part: Part, frames: RawFrames): void => {
  // A function of the program that calls Node's is the same whether it is met inside of these or not.
  if (isSameFunction(part.frames, innermostFrame(part.frames), frames, innermostFrame(frames))) part.votes++;
  else if (--part.votes <= 0) {
    part.frames = frames;
    part.votes = 1;
  }
};

/** Rings by number. */
export const Ring = { busy: 0, gc: 1, pool: 2, turns: 3 } as const;
type RingNumber = (typeof Ring)[keyof typeof Ring];

export const RINGS = 4;
/** Short turns come more often than others: their ring, the last, has so many times the rows. */
export const TURN_ROWS_FACTOR = 4;
const LATE_SAMPLES = RINGS;
const POOL_PROBES = RINGS + 1;
/** What goes on now, as `timelineOpen` has found it. */
const OPEN = { busyNs: RINGS + 2, turn: RINGS + 3, poolNs: RINGS + 4, poolNumber: RINGS + 5 } as const;
const FIRST_ROW = RINGS + 6;
const ROW_CELLS = 3;

/**
 * Called with a row; `third` depends on its ring: the turn (negative: no JavaScript ran in it), the type of collection, the number of the probe, the
 * nanoseconds of short turns in which the loop was idle.
 */
type Visit = (startNs: number, endNs: number, third: number) => void;

export class NativeRings {
  /** Written by the addon. */
  readonly cells: Float64Array;
  readonly #maxRows: number;

  constructor(maxRows: number) {
    this.#maxRows = maxRows;
    this.cells = new Float64Array(FIRST_ROW + (RINGS - 1 + TURN_ROWS_FACTOR) * maxRows * ROW_CELLS);
  }

  /** Rows of all rings that are there. */
  get rows(): number {
    return this.#written.reduce((sum, count, ring) => sum + Math.min(count, this.#rowsOf(ring)), 0);
  }

  /** Rows that newer ones have taken the place of. */
  get dropped(): number {
    return this.#written.reduce((sum, count, ring) => sum + Math.max(0, count - this.#rowsOf(ring)), 0);
  }

  /** From then on no row is missing; 0 where none ever was. */
  get keptFromNs(): number {
    let from = 0;
    for (const [ring, written] of this.#written.entries())
      if (written > this.#rowsOf(ring)) from = Math.max(from, this.cells[this.#cellOf(ring, written)]);
    return from;
  }

  get lateSamples(): number {
    return this.cells[LATE_SAMPLES];
  }

  get poolProbes(): number {
    return this.cells[POOL_PROBES];
  }

  /** 0 for what does not go on. */
  open(what: keyof typeof OPEN): number {
    return this.cells[OPEN[what]];
  }

  /** Those that end after `sinceNs`, the newest first: a report asks for what came since a moment ago. */
  each(ring: RingNumber, sinceNs: number, visit: Visit): void {
    const written = this.cells[ring];
    for (let i = written - 1; i >= Math.max(0, written - this.#rowsOf(ring)); i--) {
      const at = this.#cellOf(ring, i);
      if (this.cells[at + 1] <= sinceNs) return;
      visit(this.cells[at], this.cells[at + 1], this.cells[at + 2]);
    }
  }

  #cellOf(ring: number, row: number): number {
    return FIRST_ROW + (ring * this.#maxRows + (row % this.#rowsOf(ring))) * ROW_CELLS;
  }

  #rowsOf(ring: number): number {
    return ring === Ring.turns ? TURN_ROWS_FACTOR * this.#maxRows : this.#maxRows;
  }

  get #written(): number[] {
    return [...this.cells.subarray(0, RINGS)];
  }
}
