// The ring: blocks of the last minute, the oldest let go as time and bytes ask. Memory of blocks that nobody reads is used again. It must
// never hold more than its bound, but for the block that has just come.
import { now, nsPerTick } from '../clock/index.js';
import type { Block } from './block.js';

// Memory is asked for in steps, so that what one block had serves the next: new memory costs more than what is written to it.
const STEP_BYTES = 32 << 10;
const SMALL_STEP_BYTES = 2 << 10;
const MOST_SPARE = 4;

export interface RingBounds {
  /** Milliseconds. What is older is let go. */
  readonly minAgeMs: number;
  /** Beyond, the oldest are let go however young. */
  readonly maxBytes: number;
}

/** Told of the blocks that the ring holds, in order. */
export interface RingWatcher {
  added(block: Block): void;
  /** The oldest one. */
  removed(): void;
}

export class FlightRing {
  watcher: RingWatcher | undefined;
  // In order of time, from `first` on.
  #blocks: Block[] = [];
  #first = 0;
  readonly #spare: ArrayBuffer[] = [];
  bytes = 0;
  spans = 0;
  /** Spans let go before their time. */
  spansEvictedEarly = 0;

  constructor(public bounds: RingBounds) {}

  get length(): number {
    return this.#blocks.length - this.#first;
  }

  /** Milliseconds since the end of the oldest span held. */
  get heldMs(): number {
    return this.length === 0 ? 0 : ageMs(this.#blocks[this.#first].firstEnd);
  }

  /** Memory for a block of so many bytes. */
  readonly allocate = (bytes: number): ArrayBuffer => {
    const step = bytes > STEP_BYTES ? STEP_BYTES : SMALL_STEP_BYTES;
    const wanted = Math.ceil(bytes / step) * step;
    const at = this.#spare.findIndex(({ byteLength }) => byteLength >= wanted && byteLength <= wanted * 2);
    if (at >= 0) return this.#spare.splice(at, 1)[0];
    return Buffer.allocUnsafeSlow(wanted).buffer as ArrayBuffer;
  };

  add(block: Block): void {
    this.#blocks.push(block);
    this.bytes += block.buffer.byteLength;
    this.spans += block.size.rows;
    this.watcher?.added(block);
    this.#letGo();
  }

  /** All of them; from now on somebody beside the ring may read them. */
  share(): readonly Block[] {
    this.#letGo();
    const shared = this.#blocks.slice(this.#first);
    for (const block of shared) block.isShared = true;
    return shared;
  }

  #letGo(): void {
    const { minAgeMs, maxBytes } = this.bounds;
    while (this.length > 1) {
      const block = this.#blocks[this.#first];
      const isOld = ageMs(block.lastEnd) > minAgeMs;
      if (!isOld && this.bytes <= maxBytes) break;
      if (!isOld) this.spansEvictedEarly += block.size.rows;
      this.#remove(block);
    }
    // Now and then: to take one at a time from the front of an array would move the rest each time.
    if (this.#first > 64 && this.#first * 2 > this.#blocks.length) {
      this.#blocks = this.#blocks.slice(this.#first);
      this.#first = 0;
    }
  }

  #remove(block: Block): void {
    (this.#blocks as (Block | undefined)[])[this.#first++] = undefined;
    this.bytes -= block.buffer.byteLength;
    this.spans -= block.size.rows;
    this.watcher?.removed();
    if (block.isShared) return;
    this.#spare.push(block.buffer);
    if (this.#spare.length > MOST_SPARE) this.#spare.shift();
  }
}

const ageMs = (ticks: number): number => ((now() - ticks) * nsPerTick()) / 1e6;
