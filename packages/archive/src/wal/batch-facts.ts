// What is known of a batch of spans without reading it again: traces, times, services and the names of their spans. It is gathered while the batch is
// written, a few nanoseconds a span; a reader passes over the batch by it. It must never claim less than the batch has.
import type { ArchivedSpan } from 'spanline/internal/record';
import type { SegmentOperation } from '../segment/segment-summary.js';
import { serviceOf } from '../segment/span-tables.js';

const NS_PER_SECOND = 1_000_000_000n;
const FIRST_NAMES = 64;
/** Resources, and names of each, whose kinds are remembered: a batch may have ten thousand of both, and any pair of them. */
const MAX_RESOURCES = 64;
const MAX_NAMES = 8192;

/** What a span is, for lists of services and names. */
interface Shape extends SegmentOperation {
  readonly service: string;
}

/** What is known of a whole batch. */
export interface BatchFacts {
  /** The last word of the id of each trace, wherever it began: finds the batches that may have a trace. */
  readonly traceWords: Uint32Array;
  readonly startUnixNs: bigint;
  readonly endUnixNs: bigint;
  /** Each service, name and kind, at least once. */
  readonly shapes: readonly Shape[];
}

const nanosOf = (sec: number, nano: number): bigint => BigInt(sec) * NS_PER_SECOND + BigInt(nano);

/** Gathers them, span by span. */
export class FactsOfBatch {
  readonly #traceWords: number[] = [];
  readonly #shapes: Shape[] = [];
  // By the numbers of resource and name in the batch: the kinds that were seen, as bits.
  readonly #seen: Uint8Array[] = [];
  #firstSec = Number.POSITIVE_INFINITY;
  #firstNano = 0;
  #lastSec = 0;
  #lastNano = 0;
  // Of spans whose times came as one number.
  #first: bigint | undefined;
  #last = 0n;

  get hasTraces(): boolean {
    return this.#traceWords.length > 0;
  }

  /** Note the last word of the id of a trace that begins. */
  trace(word: number): void {
    this.#traceWords.push(word);
  }

  /** Note the times of a span, in seconds and nanoseconds. */
  times(startSec: number, startNano: number, endSec: number, endNano: number): void {
    if (startSec < this.#firstSec || (startSec === this.#firstSec && startNano < this.#firstNano)) {
      this.#firstSec = startSec;
      this.#firstNano = startNano;
    }
    if (endSec > this.#lastSec || (endSec === this.#lastSec && endNano > this.#lastNano)) {
      this.#lastSec = endSec;
      this.#lastNano = endNano;
    }
  }

  /** The same in Unix nanoseconds. */
  timesNs(start: bigint, end: bigint): void {
    if (this.#first === undefined || start < this.#first) this.#first = start;
    if (end > this.#last) this.#last = end;
  }

  /** Note what a span is, by numbers: those of resource and name in the batch, 0 for a name that has none, and that of its kind. */
  span(
    resourceNumber: number,
    nameNumber: number,
    kindNumber: number,
    span: Pick<ArchivedSpan, 'resource' | 'name' | 'kind'>,
  ): void {
    if (nameNumber > 0 && nameNumber < MAX_NAMES && resourceNumber < MAX_RESOURCES) {
      let seen = this.#seen[resourceNumber];
      if (seen === undefined || nameNumber >= seen.length) seen = this.#grow(resourceNumber, nameNumber);
      const bit = 1 << kindNumber;
      if ((seen[nameNumber] & bit) !== 0) return;
      seen[nameNumber] |= bit;
    }
    const { resource, name, kind } = span;
    // Of the resource its service alone: it is its caller's, who may change it, and is larger than the span.
    this.#shapes.push({ service: serviceOf(resource), name, kind });
  }

  /** Of the whole batch. */
  done(): BatchFacts {
    const starts = this.#first === undefined ? [] : [this.#first];
    if (this.#firstSec < Number.POSITIVE_INFINITY) starts.push(nanosOf(this.#firstSec, this.#firstNano));
    const end = nanosOf(this.#lastSec, this.#lastNano);
    return {
      traceWords: Uint32Array.from(this.#traceWords),
      startUnixNs: starts.reduce((a, b) => (a < b ? a : b), starts[0] ?? 0n),
      endUnixNs: end > this.#last ? end : this.#last,
      shapes: this.#shapes,
    };
  }

  #grow(resourceNumber: number, nameNumber: number): Uint8Array {
    const larger = new Uint8Array(Math.max(FIRST_NAMES, 2 * nameNumber));
    const seen = this.#seen[resourceNumber];
    if (seen !== undefined) larger.set(seen);
    this.#seen[resourceNumber] = larger;
    return larger;
  }
}
