// The ring: blocks of the last minute, the oldest dropped by time and bytes. Memory of blocks that nobody reads is used again. It must
// never hold more than its bound, but for the block that has just come.
import { firstIndex } from '../base/maps/first-index.js';
import { now, nsPerTick } from '../clock/index.js';
import { Block, blockBytes, TRACE_WORDS } from './block.js';
import type { HeapLimit } from './heap-limit.js';

// Memory is asked for in steps, so that what one block had serves the next: new memory costs more than what is written to it.
const STEP_BYTES = 32 << 10;
const SMALL_STEP_BYTES = 2 << 10;
const MAX_SPARE = 4;

interface RingBounds {
  /** Milliseconds. Older spans are dropped. */
  readonly minAgeMs: number;
  /** Beyond, the oldest are dropped however young. */
  readonly maxBytes: number;
}

/** A trace id as four words. */
interface TraceWords {
  readonly w0: number;
  readonly w1: number;
  readonly w2: number;
  readonly w3: number;
}

export class FlightRing {
  /** Called with the blocks that the ring holds, in order. */
  watcher: HeapLimit | undefined;
  // In order of time, from `first` on.
  #blocks: Block[] = [];
  #first = 0;
  readonly #spare: ArrayBuffer[] = [];
  bytes = 0;
  spans = 0;
  /** Spans dropped before their time. */
  spansEvictedEarly = 0;

  constructor(public bounds: RingBounds) {}

  get length(): number {
    return this.#blocks.length - this.#first;
  }

  /** Milliseconds since the end of the oldest span held. */
  get bufferedMs(): number {
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
    this.#release();
  }

  /**
   * Show a trace no more, whose rows are in blocks of these numbers. A block that somebody beside the ring reads stays as it is, and a copy takes
   * its place here.
   */
  cancel(id: TraceWords, fromNumber: number, toNumber: number): void {
    for (let at = this.#firstOf(fromNumber); at < this.#blocks.length; at++) {
      const { number, size } = this.#blocks[at];
      if (number > toNumber) return;
      for (let trace = 0; trace < size.traces; trace++) {
        if (isOf(id, this.#blocks[at].traces, trace * TRACE_WORDS)) this.spans -= this.#owned(at).hide(trace);
      }
    }
  }

  /** All of them; from now on somebody beside the ring may read them. */
  share(): readonly Block[] {
    this.#release();
    const shared = this.#blocks.slice(this.#first);
    for (const block of shared) block.isShared = true;
    return shared;
  }

  /** The place of the first block that has this number or a later one. */
  #firstOf(number: number): number {
    return firstIndex(this.#first, this.#blocks.length, (i) => this.#blocks[i].number >= number);
  }

  /** The block at this place, which nobody beside the ring reads: a copy where somebody does. */
  #owned(at: number): Block {
    const block = this.#blocks[at];
    if (!block.isShared) return block;
    const copy = new Block(this.allocate(blockBytes(block.size)), block.size);
    copy.bytes.set(block.bytes);
    copy.number = block.number;
    this.#blocks[at] = copy;
    this.bytes += copy.buffer.byteLength - block.buffer.byteLength;
    this.watcher?.replaced(at - this.#first, copy);
    return copy;
  }

  #release(): void {
    const { minAgeMs, maxBytes } = this.bounds;
    while (this.length > 1) {
      const block = this.#blocks[this.#first];
      const isOld = ageMs(block.lastEnd) > minAgeMs;
      if (!isOld && this.bytes <= maxBytes) break;
      if (!isOld) this.spansEvictedEarly += block.size.rows - block.hiddenRows;
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
    this.spans -= block.size.rows - block.hiddenRows;
    this.watcher?.removed();
    if (block.isShared) return;
    this.#spare.push(block.buffer);
    if (this.#spare.length > MAX_SPARE) this.#spare.shift();
  }
}

// Ids come as signed or as unsigned words.
const isOf = ({ w0, w1, w2, w3 }: TraceWords, words: Int32Array, at: number): boolean =>
  words[at] === (w0 | 0) && words[at + 1] === (w1 | 0) && words[at + 2] === (w2 | 0) && words[at + 3] === (w3 | 0);

const ageMs = (ticks: number): number => ((now() - ticks) * nsPerTick()) / 1e6;
