// Contexts of messages on their way to worker threads, in memory that threads share: messages themselves stay as they are. A message is known by
// its number, which both ends count. A context must never be read for a message that it was not written for.
import { SpanContext } from '../../span/span-context.js';

/** Threads that have a place of their own; a later one shares the place of an earlier. */
const THREADS = 256;
/** Messages to a thread that may wait at once; the contexts of older ones are lost. */
const WAITING = 32;
const WORDS = 8;

const SAMPLED = 1;
const RANDOM = 2;
const THREAD_SHIFT = 2;

export class SentContexts {
  readonly #words: Int32Array;

  /** All that are on their way from a thread to those that it starts. */
  constructor(readonly memory = new SharedArrayBuffer(THREADS * WAITING * WORDS * Int32Array.BYTES_PER_ELEMENT)) {
    this.#words = new Int32Array(memory);
  }

  /** The context of message `number`, counted from 1, to `thread`. */
  write(thread: number, number: number, context: SpanContext): void {
    const words = this.#words;
    const at = this.#placeOf(thread, number);
    // A reader in between finds no message of that number.
    Atomics.store(words, at, 0);
    const { w0, w1, w2, w3, idHi, idLo, sampled, isRandom } = context;
    words.set([w0, w1, w2, w3, idHi, idLo], at + 1);
    words[at + WORDS - 1] = (thread << THREAD_SHIFT) | (isRandom ? RANDOM : 0) | (sampled ? SAMPLED : 0);
    Atomics.store(words, at, number);
  }

  /** Message `number` has none. */
  clear(thread: number, number: number): void {
    Atomics.store(this.#words, this.#placeOf(thread, number), 0);
  }

  /** Undefined where it had none, or where it is gone. */
  read(thread: number, number: number): SpanContext | undefined {
    const words = this.#words;
    const at = this.#placeOf(thread, number);
    if (Atomics.load(words, at) !== number) return undefined;
    const [w0, w1, w2, w3, idHi, idLo, flags] = words.slice(at + 1, at + WORDS);
    if (Atomics.load(words, at) !== number || flags >> THREAD_SHIFT !== thread) return undefined;
    return new SpanContext(w0, w1, w2, w3, idHi, idLo, (flags & SAMPLED) !== 0, true, '', (flags & RANDOM) !== 0);
  }

  #placeOf(thread: number, number: number): number {
    return ((thread % THREADS) * WAITING + (number % WAITING)) * WORDS;
  }
}
