// The rows of a collector: chunks that are written one after the other, and which trace each row belongs to. Taking the rows of
// finished traces sorts them by trace and hands their chunks over. What waits is moved where it is the smaller part, so that a few
// rows never hold a chunk: those in use have room for twice the rows that wait, and some more.
//
// Taken rows are those of finished traces, sorted by trace, on their way to reporters. Their chunks go back to where they came from when the last of
// these traces is released, or are left to the garbage collector with them. Nothing may be written to them once they were given away.
import type { PropertyList } from './property.js';
import { CHUNK_ROWS, Flag, NO_SLOT, RowChunk } from './row-chunk.js';
import { TraceBit, TraceTable, TraceWord } from './trace-table.js';

const NONE = new Int32Array(0);

export class TakenRows {
  readonly chunks: RowChunk[] = [];
  /** How ticks of all traces become Unix time that have no anchor of their own in the table. */
  anchor: unknown = undefined;
  // Chunk and row of each row, by trace; the root of a trace first.
  private places = NONE;
  private starts = NONE;
  private ends = NONE;
  // Takes rows that are copied, and its place among the chunks.
  private copies: RowChunk | null = null;
  private copiesAt = 0;

  // Traces that somebody may still read.
  private readers = 0;

  /** @param counts Number of rows of each trace. */
  constructor(
    counts: Int32Array,
    /** Takes what is free again. */
    private readonly pool: RowStore | null = null,
  ) {
    this.begin(counts);
  }

  /** Be for other traces: nobody reads what was here. */
  begin(counts: Int32Array): void {
    this.readers = counts.length;
    this.starts = new Int32Array(counts.length);
    let count = 0;
    for (let i = 0; i < counts.length; i++) {
      this.starts[i] = count;
      count += counts[i];
    }
    this.ends = this.starts.slice();
    this.places = new Int32Array(count);
  }

  /** The rows of trace `i`: the number here of the first, and how many there are. */
  firstOf(i: number): number {
    return this.starts[i];
  }
  countOf(i: number): number {
    return this.ends[i] - this.starts[i];
  }

  /** Nobody reads one of its traces any more. */
  release(): void {
    if (--this.readers > 0 || this.pool === null) return;
    for (const chunk of this.chunks.splice(0)) this.pool.give(chunk);
    this.copies = null;
    this.places = NONE;
    this.starts = NONE;
    this.ends = NONE;
    this.pool.giveBack(this);
  }

  chunkOf(row: number): RowChunk {
    return this.chunks[Math.floor(this.places[row] / CHUNK_ROWS)];
  }

  rowOf(row: number): number {
    return this.places[row] % CHUNK_ROWS;
  }

  /** Take a chunk with unplaced rows; gives its number. */
  adopt(chunk: RowChunk): number {
    chunk.entries.forgetTexts();
    return this.chunks.push(chunk) - 1;
  }

  /** A row of an adopted chunk belongs to trace `i`. */
  place(i: number, chunk: number, row: number): void {
    const place = chunk * CHUNK_ROWS + row;
    const at = this.ends[i]++;
    if ((this.chunks[chunk].flags[row] & Flag.root) === 0) this.places[at] = place;
    else {
      const first = this.starts[i];
      this.places[at] = this.places[first];
      this.places[first] = place;
    }
  }

  /** Copy a row for trace `i`; gives the copy's chunk, in which it is the last row. */
  copy(i: number, from: RowChunk, row: number, more?: PropertyList): RowChunk {
    const copies = this.copyRow(from, row, more);
    this.place(i, this.copiesAt, copies.count - 1);
    return copies;
  }

  /** Give row `at`, which came with its chunk, more properties; gives the bytes that takes. The chunk may be another one afterwards. */
  extend(at: number, more: PropertyList): number {
    const [chunk, row] = [this.chunkOf(at), this.rowOf(at)];
    const before = chunk.bytesOf(row);
    const copies = this.copyRow(chunk, row, more);
    const last = copies.count - 1;
    this.places[at] = this.copiesAt * CHUNK_ROWS + last;
    return copies.bytesOf(last) - before;
  }

  private copyRow(from: RowChunk, row: number, more?: PropertyList): RowChunk {
    let { copies } = this;
    if (copies === null || copies.isFull) {
      copies = new RowChunk(Math.min(CHUNK_ROWS, this.places.length));
      this.copies = copies;
      this.copiesAt = this.adopt(copies);
    }
    copies.copy(from, row, NO_SLOT, more);
    return copies;
  }
}

/** Is given each row as soon as it is written. Must not throw. */
export interface RowJournal {
  added(chunk: RowChunk, row: number, traces: TraceTable): void;
  /** The observer has all rows that there are. */
  observed(): void;
}

/** Sees each row once, before it leaves the store or is moved, whatever becomes of it. Must not throw. */
export interface RowObserver {
  readonly journal: RowJournal | null;
  /** The rows of `chunk` from `from` to before its count. Those of traces that are hidden nobody may see. */
  observe(chunk: RowChunk, from: number, traces: TraceTable): void;
}

// Chunks in use beyond twice what is needed, before they are looked through.
const SPARE_CHUNKS = 8;

// Memory that is used again costs less than new memory, which the collector of garbage has to be asked to free. As many as a report of the
// default size takes, of spans with a dozen properties each.
const MAX_POOLED = 16;
const MAX_POOLED_BYTES = 8 << 20;

// One that is delivered, one that waits, one that is taken.
const MAX_POOLED_TAKEN = 3;

export class RowStore {
  private readonly full: RowChunk[] = [];
  private open: RowChunk | null = null;
  // Numbers that nobody has and rows may name, until a pass over the chunks.
  private readonly unwanted: number[] = [];
  private readonly pool: RowChunk[] = [];
  private pooledBytes = 0;
  // Old objects, which all traces of a report refer to: to a new one the next collection of young objects would have to follow each of them.
  private readonly pooledTaken: TakenRows[] = [];
  private waiting = 0;
  // Rows of full chunks, wanted or not.
  private closedRows = 0;
  // Full chunks there may be before they are looked through, however many rows wait: what nobody wants may be few rows with much text.
  private maxFull = SPARE_CHUNKS;
  // Full chunks all of whose rows the observer has.
  private observedFull = 0;
  // Chunks are on their way from one place to another, or are being shown.
  private isBusy = false;
  private observer: RowObserver | null = null;
  /** Gets each row. */
  journal: RowJournal | null = null;
  /** Chunks that were left because few of their rows waited. */
  compacted = 0;

  /** @param capacity Rows of a chunk. */
  constructor(
    private readonly capacity = CHUNK_ROWS,
    /** The traces whose rows are here. */
    readonly traces = new TraceTable(),
  ) {}

  /** Chunks in use, and their bytes; chunks that wait to be used again. */
  get size(): { readonly chunks: number; readonly bytes: number; readonly pooled: number } {
    const chunks = this.open === null ? this.full : [...this.full, this.open];
    const bytes = chunks.reduce((sum, { byteSize }) => sum + byteSize, 0);
    return { chunks: chunks.length, bytes, pooled: this.pool.length };
  }

  /** Take a chunk back that nobody reads any more. */
  give(chunk: RowChunk): void {
    if (this.pool.length >= MAX_POOLED || chunk.capacity !== this.capacity) return;
    const { byteSize } = chunk;
    if (this.pooledBytes + byteSize > MAX_POOLED_BYTES) return;
    chunk.clear();
    this.pool.push(chunk);
    this.pooledBytes += byteSize;
  }

  /** Take back what listed taken rows, all of which are released. */
  giveBack(rows: TakenRows): void {
    if (this.pooledTaken.length < MAX_POOLED_TAKEN) this.pooledTaken.push(rows);
  }

  /** The chunk with room for a row, to be written at once. */
  chunk(): RowChunk {
    const { open } = this;
    const chunk = open === null || open.isFull ? this.nextChunk() : open;
    this.waiting++;
    return chunk;
  }

  /** Show this one all rows that are here or come, or stop it. */
  observeWith(observer: RowObserver | null): void {
    // What was dropped before is not for this one.
    for (const number of this.unwanted) this.traces.setBits(number, TraceBit.hidden);
    this.observer = observer;
    this.journal = observer?.journal ?? null;
  }

  /** Show the observer what it has not seen. */
  observeAll(): void {
    if (this.observer === null) return;
    const wasBusy = this.isBusy;
    this.isBusy = true;
    for (; this.observedFull < this.full.length; this.observedFull++) {
      this.observe(this.full[this.observedFull], this.observer);
    }
    if (this.open !== null) this.observe(this.open, this.observer);
    this.journal?.observed();
    this.isBusy = wasBusy;
  }

  /** The same in the middle of any code, which may be that of this class: then nothing is shown. */
  observeWhatIsStill(): void {
    if (!this.isBusy) this.observeAll();
  }

  /** The rows of a trace are wanted no longer, and its number is given up; the observer may see them only if `isShown`. */
  drop(number: number, isShown: boolean): void {
    const { traces } = this;
    const stored = traces.stored(number);
    this.waiting -= stored;
    if (stored === 0) {
      traces.release(number);
      return;
    }
    traces.disown(number);
    traces.emptied(number);
    traces.setBits(number, isShown ? TraceBit.unwanted : TraceBit.unwanted | TraceBit.hidden);
    this.unwanted.push(number);
    this.lookThrough();
  }

  /** Take the rows of these traces, which have none here afterwards. Their chunks come back when all traces are released. */
  take(numbers: Int32Array): TakenRows {
    const wasBusy = this.isBusy;
    this.isBusy = true;
    const taken = this.takeRows(numbers);
    this.isBusy = wasBusy;
    return taken;
  }

  private takeRows(numbers: Int32Array): TakenRows {
    const { traces } = this;
    // Loops, not methods of typed arrays: they run once a trace.
    const counts = new Int32Array(numbers.length);
    const wanted = new Int32Array(traces.size).fill(-1);
    for (let i = 0; i < numbers.length; i++) {
      counts[i] = traces.get(numbers[i], TraceWord.spans);
      wanted[numbers[i]] = i;
    }
    const taken = this.pooledTaken.pop() ?? new TakenRows(counts, this);
    taken.begin(counts);
    this.observeAll();
    const { open } = this;
    // Out of the same array: one that waits for a while is an old object, and would keep its chunks until old objects are collected.
    const full = this.full.splice(0);
    this.open = null;
    this.closedRows = 0;
    this.waiting = 0;
    // The open one first: where it stays, what is moved goes there.
    if (open !== null && !this.share(open, wanted, taken, numbers)) this.open = open;
    for (const chunk of full) if (!this.share(chunk, wanted, taken, numbers)) this.close(chunk);
    this.maxFull = 2 * this.full.length + SPARE_CHUNKS;
    this.open?.entries.forgetTexts();
    // The observer has seen what was moved meanwhile.
    for (const chunk of this.full) chunk.observed = chunk.count;
    if (this.open !== null) this.open.observed = this.open.count;
    this.observedFull = this.full.length;
    // No row names these any more.
    for (const number of this.unwanted.splice(0)) traces.release(number);
    return taken;
  }

  // True when the chunk is no longer in use here.
  private share(chunk: RowChunk, wanted: Int32Array, taken: TakenRows, numbers: Int32Array): boolean {
    const { slots, count } = chunk;
    const { traces } = this;
    let ready = 0;
    let waiting = 0;
    for (let row = 0; row < count; row++) {
      const slot = slots[row];
      if (slot === NO_SLOT) continue;
      if (wanted[slot] >= 0) ready++;
      else if (!traces.has(slot, TraceBit.unwanted)) waiting++;
      else slots[row] = NO_SLOT;
    }
    this.waiting += waiting;
    // A part of a few rows waits for its reporter with these bytes counted: it must not hold a chunk.
    const isHandedOver = ready > 0 && ready * 2 >= count && (chunk.isFull || count * 2 >= chunk.capacity);
    const isLeft = isHandedOver || waiting === 0 || (chunk.isFull && isSparse(chunk, waiting, wanted));
    const adopted = isHandedOver ? taken.adopt(chunk) : -1;
    for (let row = 0; row < count && ready + (isLeft ? waiting : 0) > 0; row++) {
      const slot = slots[row];
      if (slot === NO_SLOT) continue;
      const i = wanted[slot];
      if (i < 0) {
        if (isLeft) this.writable().copy(chunk, row, slot);
        continue;
      }
      const more = (chunk.flags[row] & Flag.root) === 0 ? undefined : traces.rootProperties(numbers[i]);
      if (isHandedOver && more === undefined) taken.place(i, adopted, row);
      else taken.copy(i, chunk, row, more);
      if (!isHandedOver) slots[row] = NO_SLOT;
    }
    if (isLeft && !isHandedOver) {
      if (waiting > 0) this.compacted++;
      this.give(chunk);
    }
    return isLeft;
  }

  private observe(chunk: RowChunk, observer: RowObserver): void {
    const from = chunk.observed;
    chunk.observed = chunk.count;
    if (from < chunk.count) observer.observe(chunk, from, this.traces);
  }

  private writable(): RowChunk {
    const { open } = this;
    if (open !== null && !open.isFull) return open;
    if (open !== null) this.close(open);
    const pooled = this.pool.pop();
    if (pooled !== undefined) this.pooledBytes -= pooled.byteSize;
    this.open = pooled ?? new RowChunk(this.capacity);
    return this.open;
  }

  private nextChunk(): RowChunk {
    this.lookThrough();
    return this.writable();
  }

  private close(chunk: RowChunk): void {
    this.full.push(chunk);
    this.closedRows += chunk.count;
  }

  // Rows of discarded traces are in the way: nothing else would find them where no report takes rows.
  private lookThrough(): void {
    const spare = SPARE_CHUNKS * this.capacity;
    if (this.full.length > this.maxFull || this.closedRows > 2 * this.waiting + spare) this.take(NONE);
  }
}

// True when less than half of what a chunk holds waits, in rows or in bytes.
const isSparse = (chunk: RowChunk, waiting: number, wanted: Int32Array): boolean => {
  if (waiting * 2 < chunk.count) return true;
  if (waiting === chunk.count) return false;
  let bytes = 0;
  for (let row = 0; row < chunk.count; row++) {
    const slot = chunk.slots[row];
    if (slot !== NO_SLOT && wanted[slot] < 0) bytes += chunk.bytesOf(row);
  }
  return bytes * 2 < chunk.usedBytes;
};
