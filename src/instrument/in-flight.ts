// Work in flight when an instrumentation is taken back: its spans are still to end, so what ends them goes only with the last.
import type { Off } from './channel.js';

export class InFlight {
  #count = 0;
  #stopEnding: Off | undefined;

  begun(): void {
    this.#count++;
  }

  ended(): void {
    this.#count--;
    this.#stopWhenDone();
  }

  /** `stopBeginning` at once, and `stopEnding` as soon as nothing is in flight. */
  off(stopBeginning: Off, stopEnding: Off): Off {
    return () => {
      stopBeginning();
      this.#stopEnding = stopEnding;
      this.#stopWhenDone();
    };
  }

  #stopWhenDone(): void {
    if (this.#count === 0) this.#stopEnding?.();
  }
}
