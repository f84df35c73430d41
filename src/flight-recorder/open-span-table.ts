// Spans that have not ended, for snapshots: a bounded table. Called at the start and at the end of each span: nothing here may throw, and a
// span that never ends must not fill the table for ever.
import type { EndedRoot, OpenSpans } from '../span/active-trace.js';
import type { Span } from '../span/span.js';
import type { TailFile } from './tail/tail-file.js';

export const MAX_OPEN_SPANS = 16_384;

const NO_PLACE = -1;
/** Spans that are the sample for the age of a quarter. */
const SAMPLED = 256;

export class OpenSpanTable implements OpenSpans {
  private readonly spans: (EndedRoot | null)[] = [];
  private readonly free: number[] = [];
  /** Spans that have been open for longest were given up for others. */
  forgotten = 0;

  /** @param tail Gets each, so that they outlive the process. */
  constructor(
    private readonly max = MAX_OPEN_SPANS,
    private readonly tail: TailFile | undefined = undefined,
  ) {}

  get size(): number {
    return this.spans.length - this.free.length;
  }

  add(span: EndedRoot): number {
    const place = this.placeOf(span);
    if (this.tail !== undefined) this.tail.opened(place, span as Span);
    return place;
  }

  private placeOf(span: EndedRoot): number {
    const place = this.free.pop();
    if (place !== undefined) {
      this.spans[place] = span;
      return place;
    }
    if (this.spans.length < this.max) return this.spans.push(span) - 1;
    this.forgetOldest();
    const freed = this.free.pop() ?? NO_PLACE;
    if (freed !== NO_PLACE) this.spans[freed] = span;
    return freed;
  }

  remove(place: number, span: EndedRoot): void {
    // Its place may have been given to another one.
    if (this.spans[place] !== span) return;
    this.spans[place] = null;
    this.free.push(place);
    if (this.tail !== undefined) this.tail.ended(place);
  }

  /** Those that are open now: one whose row is being written has ended, and is removed behind that. */
  all(): readonly EndedRoot[] {
    return this.spans.filter((span) => span !== null && span.endTicks === 0) as EndedRoot[];
  }

  // A quarter: to look for the oldest one each time would cost as many steps as there are spans. Which begins are those of a quarter is found by
  // some of them, for a program stands still meanwhile.
  private forgetOldest(): void {
    const { spans, free, max } = this;
    const begins: number[] = [];
    const step = Math.ceil(spans.length / SAMPLED);
    for (let place = 0; place < spans.length; place += step) begins.push(spans[place]?.begin ?? 0);
    begins.sort((a, b) => a - b);
    const last = begins[begins.length >> 2];
    // Of those that began in one moment only as many.
    let left = Math.ceil(max / 4);
    for (let place = 0; place < spans.length; place++) {
      const span = spans[place];
      if (span === null || span.begin > last || (span.begin === last && left <= 0)) continue;
      spans[place] = null;
      free.push(place);
      this.tail?.ended(place);
      this.forgotten++;
      left--;
    }
  }
}
