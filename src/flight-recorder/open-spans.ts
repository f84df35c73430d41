// Spans that have not ended: a bounded table of them, and blocks of them whose rows end when a snapshot is taken. The table is called at the start
// and at the end of each span: nothing in it may throw, and a span that never ends must not fill it for ever. Blocks are made in one stretch, so
// that no span is both open and ended in a snapshot, and also in the middle of any code: spans are read, and nothing of them is changed.
import { getOrMake } from '../base/maps/maps.js';
import type { LocalSpan, SpanQueue } from '../local-span/local-span.js';
import { type EndedSpan, nameText } from '../rows/property.js';
import { CHUNK_ROWS, Flag, RowChunk } from '../rows/row-chunk.js';
import { internName } from '../rows/row-text.js';
import { TraceBit, type TraceKey, TraceTable } from '../rows/trace-table.js';
import type { ActiveTrace, EndedRoot, OpenSpans } from '../span/active-trace.js';
import type { Span } from '../span/span.js';
import type { Block } from './block.js';
import { BlockMaker } from './block-maker.js';
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

export class CopiedTraces {
  readonly #numbers = new Map<unknown, number>();
  table = new TraceTable();

  /** The number of a trace here; `of` distinguishes it from the others. */
  numberOf(of: unknown, key: TraceKey, resource: unknown, isSampled: boolean): number {
    return getOrMake(this.#numbers, of, () => this.table.acquire(key, resource, isSampled ? TraceBit.sampled : 0));
  }

  clear(): void {
    this.#numbers.clear();
    this.table = new TraceTable();
  }
}

/** Local spans that are shown beside the spans which they are in. */
export const MAX_OPEN_LOCAL_SPANS = 16_384;

/** What has not ended. */
export interface OpenWork {
  readonly spans: readonly Span[];
  /** What the code that runs now is in: a scope that is still on the stack. */
  readonly queue: SpanQueue | undefined;
  /** Ticks. */
  readonly taken: number;
}

/** The blocks of what is open, and how many local spans found no place in them. */
interface OpenBlocks {
  readonly blocks: readonly Block[];
  readonly leftOut: number;
}

/** Writes one block after another. */
class OpenRows {
  readonly #maker = new BlockMaker((bytes) => new ArrayBuffer(bytes));
  readonly #taken: number;
  readonly #chunk = new RowChunk(CHUNK_ROWS);
  readonly #traces = new CopiedTraces();
  readonly blocks: Block[] = [];

  constructor(taken: number) {
    this.#taken = taken;
  }

  /** A row of `trace`. */
  add(span: EndedSpan, trace: ActiveTrace, parentHi: number, parentLo: number, flags: number): void {
    const chunk = this.#chunk;
    const slot = this.#traces.numberOf(trace, trace.context, trace.resource, trace.isSampled);
    const name = internName(span.name);
    const text = name === 0 ? nameText(span.name) : null;
    if (text !== null || span.propertyList !== null || span.details !== null) {
      chunk.entries.writeDetails(span, text, null);
    }
    chunk.add(span, parentHi, parentLo, slot, name, flags, this.#taken);
    if (chunk.isFull) this.close();
  }

  /** What was added is a block. */
  close(): void {
    if (this.#chunk.count === 0) return;
    this.blocks.push(this.#maker.makeOf(this.#chunk, this.#traces.table));
    this.#chunk.clear();
    this.#traces.clear();
  }
}

/** Whether a row of its own can be written of it. One that found no place in its trace has the id of its parent. */
const hasRow = ({ trace, idHi, idLo, parentHi, parentLo }: Span): boolean =>
  trace !== null && !trace.isDiscarded && (idHi !== parentHi || idLo !== parentLo);

const addSpan = (rows: OpenRows, span: Span): void => {
  const { isRoot, parentHi, parentLo } = span;
  const trace = span.trace as ActiveTrace;
  const { isRemote, hasSpan } = trace.context;
  const flags = isRoot ? Flag.root | (isRemote && hasSpan ? Flag.remoteParent : 0) : 0;
  rows.add(span, trace, parentHi, parentLo, span.rowFlags | flags);
};

/** The local spans that are open on a queue, innermost first. */
const localSpansOf = function* ({ nextParent }: SpanQueue): Generator<LocalSpan> {
  for (let span = nextParent; span !== null; span = span.outer) if (span.isOpen) yield span;
};

/** Queues with local spans whose spans are shown: those of tasks that run, and the one that has the thread now. */
const queuesOf = function* ({ spans, queue }: OpenWork): Generator<SpanQueue> {
  let isShown = queue === undefined;
  for (const span of spans) {
    for (let own = span.runningQueue; own !== null; own = own.nextOpen) {
      if (own === queue) isShown = true;
      yield own;
    }
  }
  if (!isShown) yield queue as SpanQueue;
};

const addLocalSpans = (rows: OpenRows, work: OpenWork): number => {
  let left = MAX_OPEN_LOCAL_SPANS;
  for (const queue of queuesOf(work)) {
    const span = queue.mount as Span;
    if (!queue.mount.isSpan || span.trace === null || span.trace.isDiscarded) continue;
    for (const local of localSpansOf(queue)) {
      const { idHi, idLo } = local.outer ?? span;
      if (--left >= 0) rows.add(local, span.trace, idHi, idLo, Flag.local);
    }
  }
  return Math.max(0, -left);
};

/** All that is open. */
export const openBlocks = (work: OpenWork): OpenBlocks => {
  const rows = new OpenRows(work.taken);
  for (const span of work.spans) if (hasRow(span)) addSpan(rows, span);
  const leftOut = addLocalSpans(rows, work);
  rows.close();
  return { blocks: rows.blocks, leftOut };
};

/** The newest, as many as go into one block: for callers that ask several times a second. */
export const newestOpenBlock = ({ spans, queue, taken }: OpenWork): Block | undefined => {
  const shown = newest(spans.filter(hasRow), CHUNK_ROWS / 2);
  return openBlocks({ spans: shown, queue, taken }).blocks[0];
};

// Those that began last, found by the numbers of their begins alone.
const newest = (spans: readonly Span[], max: number): readonly Span[] => {
  if (spans.length <= max) return spans;
  const begins = Float64Array.from(spans, ({ begin }) => begin).sort();
  const first = begins[begins.length - max];
  return spans.filter(({ begin }) => begin >= first).slice(-max);
};
