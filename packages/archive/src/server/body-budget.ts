// Bounds what all request bodies together take: bytes that wait to be decoded, and how many are inflated at a time. What is beyond is told to
// come again, before its bytes are read.
import { tryLater } from './http-error.js';

/** Bodies inflated at a time; others wait, compressed, in the order they came. */
const INFLATING = 2;

/** One for a server. */
export class BodyBudget {
  readonly #maxBytes: number;
  #held = 0;
  #inflating = 0;
  readonly #waiting: (() => void)[] = [];
  /** Requests that found no room. */
  refused = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Take room for bytes that are about to be kept. */
  take(bytes: number): void {
    if (this.#held + bytes > this.#maxBytes) {
      this.refused++;
      throw tryLater(429, 'too many requests at once: send again later');
    }
    this.#held += bytes;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }

  /** Run `work`, a few at a time. */
  async inflate<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inflating >= INFLATING) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#inflating++;
    try {
      return await work();
    } finally {
      // The place is handed on, not given back, when someone waits.
      const next = this.#waiting.shift();
      if (next === undefined) this.#inflating--;
      else next();
    }
  }
}
