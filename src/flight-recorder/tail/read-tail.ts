// Reads the mapped file of a process: rows that were in no block yet, and spans that had not ended, as blocks like all others. What is torn is left out
// and counted. It must never trust a word of the file.

import { CHUNK_ROWS, Flag, RowChunk } from '../../rows/row-chunk.js';
import { isText, RowEntries, Tag } from '../../rows/row-entries.js';
import { internReadName, RowText } from '../../rows/row-text.js';
import type { Block } from '../block.js';
import { BlockMaker } from '../block-maker.js';
import { traceIdAt } from '../block-snapshot.js';
import { CopiedTraces } from '../open-spans.js';
import {
  OPEN_WORDS,
  OpenWord,
  ROW_WORDS,
  RowWord,
  sumOf,
  TAIL_MAGIC,
  TAIL_VERSION,
  TailBit,
  TailWord,
  tailPlaces,
} from './tail-file.js';

/** What a mapped file holds. */
interface Tail {
  readonly blocks: readonly Block[];
  readonly open: readonly Block[];
  /** Ticks of the last sign of life. */
  readonly lastTicks: number;
  readonly cancelled: readonly string[];
  readonly tornRows: number;
}

/** Identifies a row among those of all traces. */
export const rowKey = (traceId: string, idHi: number, idLo: number): string => `${traceId} ${idHi} ${idLo}`;

const TEXT_ENCODINGS = 3;
const FLAG_BITS = (1 << Flag.scopeShift) - 1;

/** Names that had no number, because they are long or too many, and names that the file had no room for. */
const UNKNOWN_NAME = '(name not kept)';

/** Rows by trace, in chunks that become blocks. */
class TailRows {
  readonly #maker = new BlockMaker((bytes) => new ArrayBuffer(bytes));
  readonly #blocks: Block[] = [];
  readonly #resource: unknown;
  #chunk = new RowChunk(CHUNK_ROWS);
  readonly #traces = new CopiedTraces();

  constructor(resource: unknown) {
    this.#resource = resource;
  }

  /** The chunk to write a row to, and the slot of its trace. */
  place(traceId: string, words: Int32Array, at: number, bits: number): readonly [chunk: RowChunk, slot: number] {
    if (this.#chunk.isFull) this.#close();
    const [w0, w1, w2, w3] = [0, 1, 2, 3].map((i) => words[at + i]);
    const key = { w0, w1, w2, w3, isRandom: (bits & TailBit.random) !== 0, traceState: '' };
    const slot = this.#traces.numberOf(traceId, key, this.#resource, (bits & TailBit.sampled) !== 0);
    return [this.#chunk, slot];
  }

  blocks(): readonly Block[] {
    this.#close();
    return this.#blocks;
  }

  #close(): void {
    if (this.#chunk.count > 0) this.#blocks.push(this.#maker.makeOf(this.#chunk, this.#traces.table));
    this.#chunk = new RowChunk(CHUNK_ROWS);
    this.#traces.clear();
  }
}

class TailReader {
  readonly #words: Int32Array;
  readonly #doubles: Float64Array;
  readonly #bytes: Buffer;
  readonly #places: ReturnType<typeof tailPlaces>;
  readonly #names = new Map<number, number>();
  readonly cancelled: string[] = [];
  lastTicks: number;
  tornRows: number;

  constructor(memory: ArrayBuffer) {
    this.#words = new Int32Array(memory);
    this.#doubles = new Float64Array(memory);
    this.#bytes = Buffer.from(memory);
    this.#places = tailPlaces(this.#words[TailWord.openSpans]);
    this.lastTicks = this.#doubles[TailWord.alive / 2];
    this.tornRows = this.#words[TailWord.writing] === 0 ? 0 : 1;
    this.#readNames();
  }

  /** Rows; not those of `known`, which are in blocks already. */
  readRows(rows: TailRows, known: ReadonlySet<string>): void {
    const words = this.#words;
    const { rowsAt } = this.#places;
    const end = Math.min(rowsAt + words[TailWord.rows], words.length);
    for (let at: number = rowsAt, length: number; at + ROW_WORDS <= end; at += length) {
      length = words[at];
      // Where one ends is not known, and so not where the next begins.
      if (length < ROW_WORDS || length % 2 !== 0 || at + length > end) {
        this.tornRows++;
        return;
      }
      if (!this.#isWhole(at, length)) this.tornRows++;
      else this.#readRow(at, rows, known);
    }
  }

  /** Spans that had not ended, as far as `known` does not say that they have. They end at the last sign of life. */
  readOpen(rows: TailRows, known: ReadonlySet<string>): void {
    const words = this.#words;
    const { openAt, rowsAt } = this.#places;
    const places: number[] = [];
    for (let at: number = openAt; at < rowsAt; at += OPEN_WORDS) {
      const state = words[at + OpenWord.state];
      if (state === 0) continue;
      if (state !== 1 || words[at + OpenWord.sum] !== sumOf(words, at + OpenWord.name, at + OpenWord.sum))
        this.tornRows++;
      else places.push(at);
    }
    const beginAt = (at: number): number => this.#doubles[(at + OpenWord.begin) >> 1];
    this.lastTicks = places.reduce((last, at) => Math.max(last, beginAt(at)), this.lastTicks);
    for (const at of places) {
      const [idHi, idLo] = [words[at + OpenWord.id], words[at + OpenWord.id + 1]];
      const [parentHi, parentLo] = [words[at + OpenWord.parent], words[at + OpenWord.parent + 1]];
      const traceId = traceIdAt(words, at + OpenWord.trace);
      // One that found no place in its trace has the id of its parent.
      if (known.has(rowKey(traceId, idHi, idLo)) || (idHi === parentHi && idLo === parentLo)) continue;
      const bits = words[at + OpenWord.bits];
      const [chunk, slot] = rows.place(traceId, words, at + OpenWord.trace, bits);
      const flags =
        ((bits & TailBit.root) === 0 ? 0 : Flag.root) | ((bits & TailBit.remoteParent) === 0 ? 0 : Flag.remoteParent);
      const name = this.#names.get(words[at + OpenWord.name]) ?? 0;
      if (name === 0) chunk.entries.writeName(UNKNOWN_NAME);
      chunk.add({ idHi, idLo, begin: beginAt(at) }, parentHi, parentLo, slot, name, flags, this.lastTicks);
    }
  }

  /** Keys of the rows that are whole: of one that is torn the place among those that are open is what there is. */
  rowKeys(): Set<string> {
    const keys = new Set<string>();
    const [words, { rowsAt }] = [this.#words, this.#places];
    const end = Math.min(rowsAt + words[TailWord.rows], words.length);
    for (let at: number = rowsAt; at + ROW_WORDS <= end && words[at] >= ROW_WORDS; at += words[at]) {
      if (at + words[at] > end || !this.#isWhole(at, words[at])) continue;
      keys.add(rowKey(traceIdAt(words, at + RowWord.trace), words[at + RowWord.id], words[at + RowWord.id + 1]));
    }
    return keys;
  }

  /** Keys of the places of spans that had not ended; their sums are not looked at. */
  openKeys(): Set<string> {
    const keys = new Set<string>();
    const [words, { openAt, rowsAt }] = [this.#words, this.#places];
    for (let at: number = openAt; at < rowsAt; at += OPEN_WORDS) {
      if (words[at + OpenWord.state] !== 1) continue;
      keys.add(rowKey(traceIdAt(words, at + OpenWord.trace), words[at + OpenWord.id], words[at + OpenWord.id + 1]));
    }
    return keys;
  }

  #isWhole(at: number, length: number): boolean {
    const words = this.#words;
    const [entries, text] = [words[at + RowWord.entries], words[at + RowWord.text]];
    if (entries < 0 || text < 0 || ROW_WORDS + entries * 4 + ((text + 7) >> 3) * 2 !== length) return false;
    return words[at + RowWord.sum] === sumOf(words, at + RowWord.bits, at + length);
  }

  #readRow(at: number, rows: TailRows, known: ReadonlySet<string>): void {
    const words = this.#words;
    const bits = words[at + RowWord.bits];
    const traceId = traceIdAt(words, at + RowWord.trace);
    if ((bits & TailBit.cancelled) !== 0) {
      this.cancelled.push(traceId);
      return;
    }
    const [idHi, idLo] = [words[at + RowWord.id], words[at + RowWord.id + 1]];
    const end = this.#doubles[(at + RowWord.end) >> 1];
    this.lastTicks = Math.max(this.lastTicks, end);
    if (known.has(rowKey(traceId, idHi, idLo))) return;
    const entries = this.#entriesOf(at);
    if (entries === undefined) {
      this.tornRows++;
      return;
    }
    const [chunk, slot] = rows.place(traceId, words, at + RowWord.trace, bits);
    const wasNamed = words[at + RowWord.name] !== 0;
    const name = this.#names.get(words[at + RowWord.name]) ?? 0;
    if (wasNamed && name === 0) chunk.entries.writeName(UNKNOWN_NAME);
    chunk.entries.copy(entries, 0, entries.count);
    const begin = this.#doubles[(at + RowWord.begin) >> 1];
    const flags = words[at + RowWord.flags] & FLAG_BITS;
    const [parentHi, parentLo] = [words[at + RowWord.parent], words[at + RowWord.parent + 1]];
    chunk.add({ idHi, idLo, begin }, parentHi, parentLo, slot, name, flags, end);
  }

  // Undefined where they speak of a text that is not theirs.
  #entriesOf(at: number): RowEntries | undefined {
    const words = this.#words;
    const [count, length] = [words[at + RowWord.entries], words[at + RowWord.text]];
    const textAt = (at + ROW_WORDS + count * 4) * 4;
    const own = words.slice(at + ROW_WORDS, at + ROW_WORDS + count * 4);
    for (let i = 0; i < own.length; i += 4) {
      const tag = own[i + 1] & 0xff;
      if (isText(tag)) {
        const [from, bytes] = [own[i + 2], own[i + 3]];
        if (from < 0 || bytes < 0 || from + bytes > length || own[i + 1] >> 8 >= TEXT_ENCODINGS) return undefined;
      }
      if (tag <= Tag.array || tag === Tag.event) own[i] = this.#names.get(own[i]) ?? 0;
    }
    return RowEntries.over(own, count, RowText.over(this.#bytes.subarray(textAt, textAt + length)));
  }

  #readNames(): void {
    const words = this.#words;
    const { namesAt, namesEnd } = this.#places;
    const end = Math.min(namesAt + words[TailWord.names], namesEnd);
    for (let at: number = namesAt; at + 2 <= end; ) {
      const [number, length] = [words[at], words[at + 1]];
      const next = at + 2 + ((length + 3) >> 2);
      if (length < 0 || next > end) return;
      this.#names.set(number, internReadName(this.#bytes.toString('utf16le', (at + 2) * 4, (at + 2) * 4 + length)));
      at = next;
    }
  }
}

/** Whether a file begins as one of these, and has room for what its header promises. */
const isTail = (memory: ArrayBuffer): boolean => {
  if (memory.byteLength < 256 || memory.byteLength % 8 !== 0) return false;
  const words = new Int32Array(memory);
  const openSpans = words[TailWord.openSpans];
  if (words[TailWord.magic] !== TAIL_MAGIC || words[TailWord.version] !== TAIL_VERSION) return false;
  return openSpans >= 0 && openSpans <= words.length && tailPlaces(openSpans).rowsAt <= words.length;
};

/**
 * Read a mapped file; undefined when it is none. `keysIn` gives those of some spans that are in blocks already: a process may be killed between its
 * last block and the moment at which the rows here begin anew, and between the row of a span and its leaving the table of those that are open.
 */
export const readTail = (
  file: Buffer,
  resource: unknown,
  keysIn: (wanted: ReadonlySet<string>) => ReadonlySet<string>,
): Tail | undefined => {
  const memory = file.buffer.slice(file.byteOffset, file.byteOffset + file.length) as ArrayBuffer;
  if (!isTail(memory)) return undefined;
  const reader = new TailReader(memory);
  const keys = reader.rowKeys();
  // A span leaves its place among those that are open behind its row, which may be in a block by then.
  const inBlocks = keysIn(new Set([...keys, ...reader.openKeys()]));
  const ended = new TailRows(resource);
  reader.readRows(ended, inBlocks);
  const open = new TailRows(resource);
  reader.readOpen(open, new Set([...keys, ...inBlocks]));
  const { lastTicks, cancelled, tornRows } = reader;
  return { blocks: ended.blocks(), open: open.blocks(), lastTicks, cancelled, tornRows };
};
