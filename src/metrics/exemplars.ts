// Exemplars of a histogram: of each bucket the last measurement whose trace is sampled, with its value, its time and the ids of its span. Numbers in typed
// arrays as large as the histogram's own, made with the first one: to keep one must not allocate otherwise.
import { timers } from '../base/calls/timers.js';
import { now, nsPerTick } from '../clock/index.js';
import { spanHex, traceHex } from '../span/span-context.js';

/** Ticks: the system's time costs more than all the rest of a record. Spied on in tests. */
export const ticks = { now, perMs: (): number => 1e6 / nsPerTick() };

/** A span that was measured. */
export interface MeasuredSpan {
  /** Writes the ids of its trace and of itself, six words, from `at` on; false where the trace is not sampled. */
  writeSampledIds(words: Int32Array, at: number): boolean;
}

export interface Exemplar {
  readonly value: number;
  /** Unix milliseconds. */
  readonly timeMs: number;
  /** In hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
}

const WORDS = 6;
/** Of the span that is kept now. */
const ids = new Int32Array(WORDS);

export class Exemplars {
  /** Ids. */
  #words = new Int32Array(0);
  /** Value and ticks. */
  #numbers = new Float64Array(0);

  /** `cell` is where the bucket is counted, of `cells`. */
  keep(cell: number, cells: number, value: number, span: MeasuredSpan): void {
    if (!span.writeSampledIds(ids, 0)) return;
    if (cell * WORDS >= this.#words.length) this.#grow(cells);
    // A loop: `set` of a typed array costs as much as all the rest.
    for (let i = 0; i < WORDS; i++) this.#words[cell * WORDS + i] = ids[i];
    this.#numbers[cell * 2] = value;
    this.#numbers[cell * 2 + 1] = ticks.now();
  }

  /** That of a bucket, where there is one since a moment. */
  at(cell: number, sinceMs: number): Exemplar | undefined {
    const keptAt = this.#numbers[cell * 2 + 1];
    if (keptAt === undefined || keptAt === 0) return undefined;
    const timeMs = timers.wallMs() - (ticks.now() - keptAt) / ticks.perMs();
    // The wall clock shows whole milliseconds.
    if (timeMs < sinceMs - 1) return undefined;
    const [w0, w1, w2, w3, idHi, idLo] = this.#words.subarray(cell * WORDS, (cell + 1) * WORDS);
    return {
      value: this.#numbers[cell * 2],
      timeMs,
      traceId: traceHex(w0, w1, w2, w3),
      spanId: spanHex(idHi, idLo),
    };
  }

  #grow(cells: number): void {
    const words = new Int32Array(cells * WORDS);
    words.set(this.#words);
    this.#words = words;
    const numbers = new Float64Array(cells * 2);
    numbers.set(this.#numbers);
    this.#numbers = numbers;
  }
}
