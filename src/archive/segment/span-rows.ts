// The spans of a segment to be, as columns of numbers: ids and times are taken apart once, and everything after works on numbers. A row
// is a span as it came. What no segment can keep is refused here, before anything is written.
import { BadValueError } from '../../container/graph-error.js';
import type { ArchivedSpan } from '../../trace/archived-span.js';
import { parseId } from '../values/ids.js';
import { isTime, TIME_RULE } from '../values/times.js';

/** The place of a kind is its number in files. */
export const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
export const STATUS_CODES = ['unset', 'ok', 'error'] as const;

/** Which half of a 64-bit number stands first in memory depends on the machine. */
const HIGH = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0;
const LOW = 1 - HIGH;

/** Unix times in nanoseconds, below 2^64. */
export class Times {
  readonly values: BigUint64Array;
  private readonly halves: Uint32Array;

  constructor(count: number) {
    this.values = new BigUint64Array(count);
    this.halves = new Uint32Array(this.values.buffer);
  }

  high(i: number): number {
    return this.halves[2 * i + HIGH];
  }

  low(i: number): number {
    return this.halves[2 * i + LOW];
  }

  /** This time `i` less time `j` of `other`; exact up to 2^53, and beyond at least as large as that. */
  minus(i: number, other: Times, j: number): number {
    return (this.high(i) - other.high(j)) * 2 ** 32 + (this.low(i) - other.low(j));
  }
}

/** Spans as columns. */
export class SpanRows {
  /** Each trace once, in the order of appearance: text, and four words of id. */
  readonly traceIds: string[] = [];
  traceWords = new Uint32Array(4 * 64);
  readonly trace: Uint32Array;
  /** Two words each. */
  readonly id: Uint32Array;
  readonly parent: Uint32Array;
  readonly hasParent: Uint8Array;
  readonly start: Times;
  readonly end: Times;

  constructor(readonly spans: readonly ArchivedSpan[]) {
    const count = spans.length;
    this.trace = new Uint32Array(count);
    this.id = new Uint32Array(2 * count);
    this.parent = new Uint32Array(2 * count);
    this.hasParent = new Uint8Array(count);
    this.start = new Times(count);
    this.end = new Times(count);
    const traces = new Map<string, number>();
    let lastId = '';
    let lastTrace = 0;
    for (let row = 0; row < count; row++) {
      const span = spans[row];
      if (span.traceId !== lastId) {
        lastId = span.traceId;
        lastTrace = traces.get(lastId) ?? this.addTrace(traces, lastId);
      }
      this.trace[row] = lastTrace;
      parseId(span.spanId, 'span id', 2, this.id, 2 * row);
      if (span.parentSpanId !== '') {
        parseId(span.parentSpanId, 'parent span id', 2, this.parent, 2 * row);
        this.hasParent[row] = 1;
      }
      setTime(this.start, row, span.startUnixNs, span);
      setTime(this.end, row, span.endUnixNs, span);
    }
  }

  get count(): number {
    return this.spans.length;
  }

  private addTrace(traces: Map<string, number>, id: string): number {
    const trace = traces.size;
    if (4 * trace === this.traceWords.length) {
      const larger = new Uint32Array(8 * trace);
      larger.set(this.traceWords);
      this.traceWords = larger;
    }
    parseId(id, 'trace id', 4, this.traceWords, 4 * trace);
    traces.set(id, trace);
    this.traceIds.push(id);
    return trace;
  }
}

const setTime = (times: Times, row: number, time: bigint, span: ArchivedSpan): void => {
  if (!isTime(time))
    throw new BadValueError(`span ${span.spanId} of trace ${span.traceId} has the time ${String(time)}: ${TIME_RULE}`);
  times.values[row] = time;
};
