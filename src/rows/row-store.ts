// The rows of a collector: chunks that are written one after the other, and which trace each row belongs to. Taking the rows of
// finished traces sorts them by trace and hands their chunks over. What waits is moved where it is the smaller part, so that a few
// rows never hold a chunk: those in use have room for twice the rows that wait, and some more.
import type { PropertyList } from './property.js';
import { CHUNK_ROWS, Flag, NO_SLOT, RowChunk } from './row-chunk.js';
import { TakenRows } from './taken-rows.js';

/** A trace, as far as its rows are concerned. */
export interface RowOwner {
  /** Its number while it has rows here; {@link NO_SLOT} before and after. */
  slot: number;
  /** Its rows, here and elsewhere. */
  readonly pending: number;
  /** Those here. */
  readonly stored: number;
  /** Properties of its root that are known only when it is taken. */
  readonly rootProperties: PropertyList | undefined;
}

/** Is told of each row as soon as it is written. Must not throw. */
export interface RowJournal {
  added(chunk: RowChunk, row: number, owner: RowOwner): void;
  /** The keeper has all rows that there are. */
  kept(): void;
}

/** Keeps rows beyond their report: sees each once, before it leaves the store or is moved. Must not throw. */
export interface RowKeeper {
  readonly journal: RowJournal | null;
  /** The rows of `chunk` from `from` to before its count, and who owns the rows of a slot; undefined: nobody may see them. */
  keep(chunk: RowChunk, from: number, owners: readonly (RowOwner | undefined)[]): void;
}

/** Has the slot of rows that nobody wants, until none names it. */
const NOBODY: RowOwner = { slot: NO_SLOT, pending: 0, stored: 0, rootProperties: undefined };

// Chunks in use beyond twice what is needed, before they are looked through.
const SPARE_CHUNKS = 8;

// Memory that is used again costs less than new memory, which the collector of garbage has to be asked to free. As many as a report of the
// default size takes, of spans with a dozen properties each.
const MOST_POOLED = 16;
const MOST_POOLED_BYTES = 8 << 20;

export class RowStore {
  private readonly full: RowChunk[] = [];
  private open: RowChunk | null = null;
  private readonly owners: (RowOwner | null)[] = [];
  private readonly freeSlots: number[] = [];
  // Those whose rows the keeper may see, some of which nobody else wants.
  private readonly seen: (RowOwner | undefined)[] = [];
  private readonly pool: RowChunk[] = [];
  private pooledBytes = 0;
  private waiting = 0;
  // Rows of full chunks, wanted or not.
  private closedRows = 0;
  // Full chunks there may be before they are looked through, however many rows wait: what nobody wants may be few rows with much text.
  private mostFull = SPARE_CHUNKS;
  // Full chunks all of whose rows the keeper has.
  private keptFull = 0;
  // Chunks are on their way from one place to another, or are being shown.
  private isBusy = false;
  private keeper: RowKeeper | null = null;
  /** Who is to be told of each row. */
  journal: RowJournal | null = null;
  /** Chunks that were left because few of their rows waited. */
  compacted = 0;

  /** @param capacity Rows of a chunk. */
  constructor(private readonly capacity = CHUNK_ROWS) {}

  /** Chunks in use, and their bytes; chunks that wait to be used again. */
  get size(): { readonly chunks: number; readonly bytes: number; readonly pooled: number } {
    const chunks = this.open === null ? this.full : [...this.full, this.open];
    const bytes = chunks.reduce((sum, { byteSize }) => sum + byteSize, 0);
    return { chunks: chunks.length, bytes, pooled: this.pool.length };
  }

  /** Take a chunk back that nobody reads any more. */
  give(chunk: RowChunk): void {
    if (this.pool.length >= MOST_POOLED || chunk.capacity !== this.capacity) return;
    const { byteSize } = chunk;
    if (this.pooledBytes + byteSize > MOST_POOLED_BYTES) return;
    chunk.clear();
    this.pool.push(chunk);
    this.pooledBytes += byteSize;
  }

  /** The chunk with room for a row of `owner`, to be written at once. */
  chunkFor(owner: RowOwner): RowChunk {
    if (owner.slot === NO_SLOT) this.assignSlot(owner);
    const { open } = this;
    const chunk = open === null || open.isFull ? this.nextChunk() : open;
    this.waiting++;
    return chunk;
  }

  /** Show this one all rows that are here or come, or stop it. */
  keepWith(keeper: RowKeeper | null): void {
    this.keeper = keeper;
    this.journal = keeper?.journal ?? null;
    this.owners.forEach((owner, slot) => {
      this.seen[slot] = keeper === null || owner === null || owner === NOBODY ? undefined : owner;
    });
  }

  /** Show the keeper what it has not seen. */
  keepAll(): void {
    if (this.keeper === null) return;
    const wasBusy = this.isBusy;
    this.isBusy = true;
    for (; this.keptFull < this.full.length; this.keptFull++) this.keep(this.full[this.keptFull], this.keeper);
    if (this.open !== null) this.keep(this.open, this.keeper);
    this.journal?.kept();
    this.isBusy = wasBusy;
  }

  /** The same in the middle of any code, which may be that of this class: then nothing is shown. */
  keepWhatIsStill(): void {
    if (!this.isBusy) this.keepAll();
  }

  /** The rows of `owner` are wanted no longer; by the keeper neither, unless it has them or `isKept`. */
  drop(owner: RowOwner, isKept = false): void {
    if (owner.slot === NO_SLOT) return;
    this.waiting -= owner.stored;
    if (!isKept) this.seen[owner.slot] = undefined;
    this.owners[owner.slot] = NOBODY;
    owner.slot = NO_SLOT;
    this.lookThrough();
  }

  /** Take the rows of these traces, which have none here afterwards. Their chunks come back when all traces are released. */
  take(owners: readonly RowOwner[]): TakenRows {
    const wasBusy = this.isBusy;
    this.isBusy = true;
    const taken = this.takeRows(owners);
    this.isBusy = wasBusy;
    return taken;
  }

  private takeRows(owners: readonly RowOwner[]): TakenRows {
    const taken = new TakenRows(
      owners.map(({ pending }) => pending),
      this,
    );
    const wanted = new Int32Array(this.owners.length).fill(-1);
    owners.forEach(({ slot }, i) => {
      if (slot !== NO_SLOT) wanted[slot] = i;
    });
    this.keepAll();
    const { open } = this;
    // Out of the same array, for the reason that the ready queue gives.
    const full = this.full.splice(0);
    this.open = null;
    this.closedRows = 0;
    this.waiting = 0;
    // The open one first: where it stays, what is moved goes there.
    if (open !== null && !this.share(open, wanted, taken, owners)) this.open = open;
    for (const chunk of full) if (!this.share(chunk, wanted, taken, owners)) this.close(chunk);
    this.mostFull = 2 * this.full.length + SPARE_CHUNKS;
    this.open?.entries.forgetTexts();
    // What was moved meanwhile is known to the keeper.
    for (const chunk of this.full) chunk.kept = chunk.count;
    if (this.open !== null) this.open.kept = this.open.count;
    this.keptFull = this.full.length;
    // Nothing names the slots of these any more.
    this.owners.forEach((owner, slot) => {
      if (owner !== NOBODY && wanted[slot] < 0) return;
      if (owner === null) return;
      if (owner !== NOBODY) owner.slot = NO_SLOT;
      this.owners[slot] = null;
      this.seen[slot] = undefined;
      this.freeSlots.push(slot);
    });
    return taken;
  }

  // True when the chunk is no longer in use here.
  private share(chunk: RowChunk, wanted: Int32Array, taken: TakenRows, owners: readonly RowOwner[]): boolean {
    const { slots, count } = chunk;
    let ready = 0;
    let waiting = 0;
    for (let row = 0; row < count; row++) {
      const slot = slots[row];
      if (slot === NO_SLOT) continue;
      if (wanted[slot] >= 0) ready++;
      else if (this.owners[slot] !== NOBODY) waiting++;
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
      const more = (chunk.flags[row] & Flag.root) === 0 ? undefined : owners[i].rootProperties;
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

  private keep(chunk: RowChunk, keeper: RowKeeper): void {
    const from = chunk.kept;
    chunk.kept = chunk.count;
    if (from < chunk.count) keeper.keep(chunk, from, this.seen);
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
    if (this.full.length > this.mostFull || this.closedRows > 2 * this.waiting + spare) this.take([]);
  }

  private assignSlot(owner: RowOwner): void {
    owner.slot = this.freeSlots.pop() ?? this.owners.length;
    this.owners[owner.slot] = owner;
    if (this.keeper !== null) this.seen[owner.slot] = owner;
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
