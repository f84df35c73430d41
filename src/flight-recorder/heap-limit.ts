// Hands what the ring holds to the native part that writes it when the heap is close to its limit: no JavaScript runs then. Without the library's
// binary for this Node nothing is written, and `isOn` says so.
import { type FastCall, loadFastCall } from '../clock/binding.js';
import type { Block } from './block.js';
import { blockBytes } from './block.js';
import type { RingWatcher } from './flight-ring.js';

export class HeapLimit implements RingWatcher {
  readonly #native: FastCall | undefined = loadFastCall().module;

  /** @param path Where it is written to. */
  constructor(path: string) {
    this.#native?.heapLimitStart?.(path);
  }

  get isOn(): boolean {
    return this.#native?.heapLimitStart !== undefined;
  }

  /** What comes first in the file. */
  setHead(head: Uint8Array): void {
    this.#native?.heapLimitHead?.(head);
  }

  added(block: Block): void {
    this.#native?.heapLimitAdd?.(block.buffer, blockBytes(block.size));
  }

  removed(): void {
    this.#native?.heapLimitDrop?.();
  }

  replaced(place: number, block: Block): void {
    this.#native?.heapLimitReplace?.(place, block.buffer, blockBytes(block.size));
  }

  stop(): void {
    this.#native?.heapLimitStop?.();
  }
}
