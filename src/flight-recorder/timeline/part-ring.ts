// Parts of busy turns, made of samples as they come. Contains only what samples prove: what ran in one piece from the request of a sample to its
// service, and what two neighbouring samples agree on. Takes samples in the middle of any code: must not throw, and grows by nothing.
import type { SpanQueue } from '../../local-span/span-queue.js';
import { innermostFrame, isSameFunction, outermostFrame, type RawFrames } from './frames.js';
import { noOwner, type Owner, readOwner } from './queue-owner.js';

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
export interface Sample {
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
  #unknown = 0;

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

  /** Samples without a known owner. */
  get unknown(): number {
    return this.#unknown;
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
    if (!sample.isSame) this.#unknown++;
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
    this.#unknown++;
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
      const parts = found.get(part.turn);
      if (parts === undefined) found.set(part.turn, [part]);
      else parts.push(part);
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
