// Makes blocks of rows that a collector is about to drop. Columns are copied as a whole, some twenty nanoseconds a span: it runs at every report
// of a service under load. It must not make an object a span.
import { takeAnchor } from '../clock/index.js';
import { CHUNK_ROWS, Flag, NO_SLOT, RowChunk } from '../rows/row-chunk.js';
import { isText, Tag } from '../rows/row-entries.js';
import { internedScope, MAX_NAMES, type SpanScope } from '../rows/row-text.js';
import { TRACE_STRIDE, TraceBit, type TraceTable, TraceWord } from '../rows/trace-table.js';
import { Block, blockBytes, MAGIC, MetaWriter, TRACE_WORDS, VERSION, Word } from './block.js';

/** Gives memory of at least so many bytes. */
type Allocate = (bytes: number) => ArrayBuffer;

const COPIED = ['idHis', 'idLos', 'parentHis', 'parentLos', 'names', 'flags'] as const;

const NO_NUMBER = -1;
// One count for all rings of a thread: what a trace remembers of a ring that is gone names none of the next one's.
let nextNumber = 0;

/** The bits of a trace that a block has, which are the same in the table. */
const BITS = TraceBit.sampled | TraceBit.random;

const noteBlock = (traces: TraceTable, trace: number, block: number): void => {
  if (traces.get(trace, TraceWord.heldFrom) < 0) traces.set(trace, TraceWord.heldFrom, block);
  traces.set(trace, TraceWord.heldTo, block);
};

export class BlockMaker {
  // Rows that are not all of a chunk are brought together here first.
  private readonly picked = new RowChunk(CHUNK_ROWS);
  // Of each slot the number of its trace in the block in work, plus one; and of each row.
  private numberOfSlot = new Int32Array(1024);
  private readonly numbers = new Int32Array(CHUNK_ROWS);
  // Where the texts of the block in work begin among those of its chunk.
  private textFrom = 0;
  // Only a reader of files has more names: of those one may come twice.
  private readonly isNamed = new Uint8Array(MAX_NAMES + 1);
  private readonly meta = new MetaWriter();

  /** @param isOfRing Traces note which of its blocks have rows of them. */
  constructor(
    private readonly allocate: Allocate,
    private readonly isOfRing = false,
  ) {}

  /** The rows of `chunk` from `from` on that may be shown; undefined when there are none. */
  make(chunk: RowChunk, from: number, traces: TraceTable): Block | undefined {
    const shown = this.numberTraces(chunk, from, traces);
    if (shown !== undefined) return this.freeze(chunk, from, traces, shown);
    const { slots, count } = chunk;
    const { picked } = this;
    picked.clear();
    for (let row = from; row < count; row++) if (isShown(slots[row], traces)) picked.copy(chunk, row, slots[row]);
    return picked.count === 0 ? undefined : this.makeOf(picked, traces);
  }

  /** All rows of `chunk`, each of which is of a trace. */
  makeOf(chunk: RowChunk, traces: TraceTable): Block {
    return this.freeze(chunk, 0, traces, this.numberTraces(chunk, 0, traces) as number[]);
  }

  /** @param shown Numbers of the traces, in the order that the block has them in. */
  private freeze(chunk: RowChunk, from: number, traces: TraceTable, shown: readonly number[]): Block {
    const { count, entries } = chunk;
    const { meta } = this;
    const words = new Int32Array(shown.length * TRACE_WORDS);
    for (let i = 0, at = 0; i < shown.length; i++, at += TRACE_WORDS) {
      const trace = shown[i];
      const id = trace * TRACE_STRIDE + TraceWord.id;
      words[at] = traces.words[id];
      words[at + 1] = traces.words[id + 1];
      words[at + 2] = traces.words[id + 2];
      words[at + 3] = traces.words[id + 3];
      words[at + 4] = traces.get(trace, TraceWord.bits) & BITS;
      words[at + 5] = meta.numberOfState(traces.traceStateOf(trace));
      words[at + 6] = meta.numberOfResource(traces.resourceOf(trace));
    }
    const number = this.isOfRing ? nextNumber++ : NO_NUMBER;
    if (this.isOfRing) for (const trace of shown) noteBlock(traces, trace, number);
    const metaBytes = meta.write(this.namesOf(chunk, from), scopesOf(chunk, from), takeAnchor());
    const size = {
      rows: count - from,
      entries: chunk.heads[count] - chunk.heads[from],
      text: entries.text.used - this.textFrom,
      meta: metaBytes.length,
      traces: shown.length,
    };
    const block = new Block(this.allocate(blockBytes(size)), size);
    block.number = number;
    block.hidesNothing();
    block.traces.set(words);
    block.metaBytes.set(metaBytes);
    this.fill(block, chunk, from);
    return block;
  }

  private fill(block: Block, chunk: RowChunk, from: number): void {
    const { chunk: to, header, size } = block;
    const { rows, entries, text } = size;
    const { count } = chunk;
    to.begins.set(chunk.begins.subarray(from, count));
    to.ends.set(chunk.ends.subarray(from, count));
    for (const column of COPIED) to[column].set(chunk[column].subarray(from, count));
    to.slots.set(this.numbers.subarray(0, rows));
    to.heads.set(chunk.heads.subarray(from, count + 1));
    const head = chunk.heads[from];
    to.entries.words.set(chunk.entries.words.subarray(head * 4, (head + entries) * 4));
    chunk.entries.text.bytes.copy(block.text, 0, this.textFrom, chunk.entries.text.used);
    if (from > 0) rebase(to, head, this.textFrom);
    header.fill(0);
    header[Word.magic] = MAGIC;
    header[Word.version] = VERSION;
    header[Word.bytes] = blockBytes(size);
    header[Word.rows] = rows;
    header[Word.entries] = entries;
    header[Word.text] = text;
    header[Word.meta] = size.meta;
    header[Word.traces] = size.traces;
    let [first, last] = [Number.POSITIVE_INFINITY, 0];
    const { ends } = to;
    for (let row = 0; row < rows; row++) {
      const end = ends[row];
      if (end < first) first = end;
      if (end > last) last = end;
    }
    block.setEnds(first, last);
  }

  /** Gives each row the place of its trace in the block, and the traces; undefined where a row may not be shown. */
  private numberTraces({ slots, count }: RowChunk, from: number, traces: TraceTable): number[] | undefined {
    if (this.numberOfSlot.length < traces.size) this.numberOfSlot = new Int32Array(traces.size * 2);
    const { numberOfSlot, numbers } = this;
    const shown: number[] = [];
    let row = from;
    for (; row < count; row++) {
      const slot = slots[row];
      if (!isShown(slot, traces)) break;
      let number = numberOfSlot[slot];
      if (number === 0) {
        number = shown.push(slot);
        numberOfSlot[slot] = number;
      }
      numbers[row - from] = number - 1;
    }
    for (const slot of shown) numberOfSlot[slot] = 0;
    return row < count ? undefined : shown;
  }

  /** The numbers of the names of rows and entries; on the way, where their texts begin. */
  private namesOf({ names, count, heads, entries }: RowChunk, from: number): number[] {
    const { isNamed } = this;
    const used: number[] = [];
    isNamed[0] = 1;
    for (let row = from; row < count; row++) {
      const number = names[row];
      if (!isNamed[number]) {
        isNamed[number] = 1;
        used.push(number);
      }
    }
    const { words, text } = entries;
    let textFrom = from === 0 ? 0 : text.used;
    for (let at = heads[from] * 4; at < heads[count] * 4; at += 4) {
      const tag = words[at + 1] & 0xff;
      if (from > 0 && words[at + 2] < textFrom && isText(tag)) textFrom = words[at + 2];
      if (tag > Tag.array && tag !== Tag.event) continue;
      const number = words[at];
      if (!isNamed[number]) {
        isNamed[number] = 1;
        used.push(number);
      }
    }
    for (const number of used) isNamed[number] = 0;
    this.textFrom = textFrom;
    return used;
  }
}

const isShown = (slot: number, traces: TraceTable): boolean => slot !== NO_SLOT && !traces.has(slot, TraceBit.hidden);

// Rows from the middle of a chunk: their entries and texts lie elsewhere now.
const rebase = ({ heads, entries: { words, count } }: RowChunk, head: number, textFrom: number): void => {
  for (let row = 0; row < heads.length; row++) heads[row] -= head;
  for (let at = 0; at < count * 4; at += 4) if (isText(words[at + 1] & 0xff)) words[at + 2] -= textFrom;
};

const scopesOf = ({ flags, count }: RowChunk, from: number): [number, SpanScope][] => {
  const scopes = new Map<number, SpanScope>();
  for (let row = from, last = 0; row < count; row++) {
    const number = flags[row] >> Flag.scopeShift;
    if (number === last) continue;
    last = number;
    const scope = internedScope(number);
    if (scope !== undefined) scopes.set(number, scope);
  }
  return [...scopes];
};
