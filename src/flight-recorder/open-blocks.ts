// Spans that have not ended, as blocks: rows that end when the snapshot is taken. Runs in one stretch, so that no span is both open and ended in a
// snapshot, and also in the middle of any code: it reads spans and changes nothing of them.
import type { LocalSpan } from '../local-span/local-span.js';
import type { SpanQueue } from '../local-span/span-queue.js';
import { internName, nameText } from '../rows/name-table.js';
import { CHUNK_ROWS, Flag, RowChunk } from '../rows/row-chunk.js';
import { type EndedSpan, writeDetails } from '../rows/span-details.js';
import type { ActiveTrace } from '../span/active-trace.js';
import type { Span } from '../span/span.js';
import type { Block } from './block.js';
import { BlockMaker } from './block-maker.js';
import { CopiedTraces } from './copied-traces.js';

/** Local spans that are shown beside the spans which they are in. */
export const MAX_OPEN_LOCAL_SPANS = 16_384;

const allocate = (bytes: number): ArrayBuffer => new ArrayBuffer(bytes);

/** What has not ended. */
export interface OpenWork {
  readonly spans: readonly Span[];
  /** What the code that runs now is in: a scope that is still on the stack. */
  readonly queue: SpanQueue | undefined;
  /** Ticks. */
  readonly taken: number;
}

/** The blocks of what is open, and how many local spans found no place in them. */
export interface OpenBlocks {
  readonly blocks: readonly Block[];
  readonly leftOut: number;
}

/** Writes one block after another. */
class OpenRows {
  readonly #maker = new BlockMaker(allocate);
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
      writeDetails(chunk.entries, span, text, null);
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
