// Writes what is in no block yet to a mapped file: each row as it ends, each span as it begins. A store into that memory outlives the process, whatever
// ends it and however long its event loop has stood still. Called on the recording path: must not throw, and makes no object. All in 32-bit words,
// little end first.
//
//   header   64 words: magic, version, process id, words of rows, words of names, 1 while a row is written, open spans there is room for, 0; then
//            as doubles the ticks of a moment at which the process lived
//   names    number, bytes of UTF-16, the bytes; one behind the other, up to the length in the header
//   open     16 words each: 1 when it is one, name, id, parent id (two words each), trace id (four), bits, sum; the begin as a double
//   rows     records, one behind the other, up to the length in the header: words of the record, sum, kind and bits, number of entries,
//            bytes of text, flags, name, 0, id, parent id, trace id; begin and end as doubles; entries; their texts
//
// Each record begins at a multiple of two words. When all rows are in blocks, rows begin anew.

import { getSystemErrorName } from 'node:util';
import { loadFastCall } from '../../clock/binding.js';
import { now } from '../../clock/index.js';
import { state } from '../../context/process-state.js';
import type { RowChunk } from '../../rows/row-chunk.js';
import { isText } from '../../rows/row-entries.js';
import type { RowJournal } from '../../rows/row-store.js';
import { internName } from '../../rows/row-text.js';
import { TRACE_STRIDE, TraceBit, type TraceTable, TraceWord } from '../../rows/trace-table.js';
import type { ActiveTrace } from '../../span/active-trace.js';
import type { Span } from '../../span/span.js';
import type { SpanContext } from '../../span/span-context.js';

export const TAIL_MAGIC = 0x4c495453;
export const TAIL_VERSION = 1;

/** Words of the header. */
export const TailWord = {
  magic: 0,
  version: 1,
  pid: 2,
  rows: 3,
  names: 4,
  writing: 5,
  openSpans: 6,
  alive: 8,
} as const;

/** Words of a place in the table of open spans. */
export const OpenWord = { state: 0, name: 1, id: 2, parent: 4, trace: 6, bits: 10, sum: 11, begin: 12 } as const;
export const OPEN_WORDS = 16;

/** Words of a record. */
export const RowWord = {
  length: 0,
  sum: 1,
  bits: 2,
  entries: 3,
  text: 4,
  flags: 5,
  name: 6,
  id: 8,
  parent: 10,
  trace: 12,
  begin: 16,
  end: 18,
} as const;
export const ROW_WORDS = 20;

/** Bits of a record and of an open span. */
export const TailBit = {
  sampled: 1,
  random: 2,
  /** The record is not a row: its trace was cancelled. */
  cancelled: 4,
  root: 8,
  remoteParent: 16,
} as const;

const NAMES_AT = 64;
const NAMES_WORDS = 128 << 10;
const OPEN_AT = NAMES_AT + NAMES_WORDS;

/** Where the parts lie, in words, with room for so many open spans. Rows go to the end of the file. */
export const tailPlaces = (openSpans: number) =>
  ({ namesAt: NAMES_AT, namesEnd: OPEN_AT, openAt: OPEN_AT, rowsAt: OPEN_AT + openSpans * OPEN_WORDS }) as const;

const PRIME = 0x01000193;

/**
 * A sum of words from `from` to before `to`: distinguishes a torn record from a whole one. Four chains that do not wait for each other, for each
 * span is summed as it ends.
 */
export const sumOf = (words: Int32Array, from: number, to: number): number => {
  let [a, b, c, d] = [1, 2, 3, 4];
  let at = from;
  for (; at + 3 < to; at += 4) {
    a = Math.imul(a ^ words[at], PRIME);
    b = Math.imul(b ^ words[at + 1], PRIME);
    c = Math.imul(c ^ words[at + 2], PRIME);
    d = Math.imul(d ^ words[at + 3], PRIME);
  }
  for (; at < to; at++) a = Math.imul(a ^ words[at], PRIME);
  return Math.imul(Math.imul(Math.imul(a ^ b, PRIME) ^ c, PRIME) ^ d, PRIME);
};

/** Bytes of the file. */
const TAIL_BYTES = 4 << 20;

// A call that copies costs more than the bytes of a short text.
const SHORT_TEXT = 48;

/** Where rows go from here. */
export interface TailBlocks {
  /** Make blocks of all rows that are in none: {@link TailFile.observed} is called for it. */
  make(): void;
  /** They are made: write what else waits for them. */
  made(): void;
}

export class TailFile implements RowJournal {
  private readonly words: Int32Array;
  private readonly doubles: Float64Array;
  private readonly bytes: Buffer;
  private readonly places: ReturnType<typeof tailPlaces>;
  // Names that are written, and the words that they take.
  private named = 1;
  private nameWords = 0;
  // Words of rows.
  private used = 0;
  /** Names that there is no room for: their spans are recovered without a name. */
  refused = 0;

  /** @param memory Zeros. */
  constructor(
    memory: SharedArrayBuffer,
    openSpans: number,
    private readonly blocks: TailBlocks,
  ) {
    this.words = new Int32Array(memory);
    this.doubles = new Float64Array(memory);
    this.bytes = Buffer.from(memory);
    this.places = tailPlaces(openSpans);
    this.words[TailWord.version] = TAIL_VERSION;
    this.words[TailWord.pid] = process.pid;
    this.words[TailWord.openSpans] = openSpans;
    this.live();
    this.words[TailWord.magic] = TAIL_MAGIC;
  }

  /**
   * A new file with its space taken from the disk; undefined without the addon for this Node. Throws the system's error, with its code, where the disk
   * has no room or the file cannot be made.
   */
  static make(path: string, openSpans: number, blocks: TailBlocks): TailFile | undefined {
    const memory = loadFastCall().module?.mapFile?.(path, TAIL_BYTES);
    if (memory === undefined) return undefined;
    if (typeof memory === 'number') throw systemError(memory, path);
    return new TailFile(memory, openSpans, blocks);
  }

  /** The process lives. */
  live(): void {
    this.doubles[TailWord.alive / 2] = now();
  }

  observed(): void {
    if (this.used > 0) this.blocks.made();
    this.used = 0;
    this.words[TailWord.rows] = 0;
    this.live();
  }

  added(chunk: RowChunk, row: number, traces: TraceTable): void {
    const { entries } = chunk;
    const head = chunk.heads[row];
    const count = entries.count - head;
    const text = count === 0 ? 0 : textBytes(entries.words, head, count);
    const length = ROW_WORDS + count * 4 + ((text + 7) >> 3) * 2;
    const at = this.begin(length);
    // It is in a block by now.
    if (at === 0) return;
    const { words } = this;
    const trace = chunk.slots[row];
    const id = trace * TRACE_STRIDE + TraceWord.id;
    for (let word = 0; word < 4; word++) words[at + RowWord.trace + word] = traces.words[id + word];
    words[at + RowWord.bits] =
      (traces.has(trace, TraceBit.sampled) ? TailBit.sampled : 0) |
      (traces.has(trace, TraceBit.random) ? TailBit.random : 0);
    words[at + RowWord.entries] = count;
    words[at + RowWord.text] = text;
    words[at + RowWord.flags] = chunk.flags[row];
    words[at + RowWord.name] = chunk.names[row];
    words[at + RowWord.id] = chunk.idHis[row];
    words[at + RowWord.id + 1] = chunk.idLos[row];
    words[at + RowWord.parent] = chunk.parentHis[row];
    words[at + RowWord.parent + 1] = chunk.parentLos[row];
    this.doubles[(at + RowWord.begin) >> 1] = chunk.begins[row];
    this.doubles[(at + RowWord.end) >> 1] = chunk.ends[row];
    if (count > 0) this.putEntries(at + ROW_WORDS, chunk, head, count);
    this.commit(at, length);
  }

  /** The trace must not be shown. */
  cancelled({ context }: ActiveTrace): void {
    const at = this.begin(ROW_WORDS);
    if (at === 0) return;
    this.words.fill(0, at + 2, at + ROW_WORDS);
    this.words[at + RowWord.bits] = TailBit.cancelled;
    this.putTrace(at + RowWord.trace, context);
    this.commit(at, ROW_WORDS);
  }

  /** A span has begun that has this place among those that are open. */
  opened(place: number, span: Span): void {
    const { trace } = span;
    if (trace === null || place < 0) return;
    const name = internName(span.name);
    if (state.names.texts.length > this.named) this.writeNames();
    const { words } = this;
    const { context } = trace;
    const at = this.places.openAt + place * OPEN_WORDS;
    words[at + OpenWord.name] = name;
    words[at + OpenWord.id] = span.idHi;
    words[at + OpenWord.id + 1] = span.idLo;
    words[at + OpenWord.parent] = span.parentHi;
    words[at + OpenWord.parent + 1] = span.parentLo;
    this.putTrace(at + OpenWord.trace, context);
    words[at + OpenWord.bits] =
      (trace.isSampled ? TailBit.sampled : 0) |
      (context.isRandom ? TailBit.random : 0) |
      (span.isRoot ? TailBit.root : 0) |
      (span.isRoot && context.isRemote && context.hasSpan ? TailBit.remoteParent : 0);
    this.doubles[(at + OpenWord.begin) >> 1] = span.begin;
    words[at + OpenWord.sum] = sumOf(words, at + OpenWord.name, at + OpenWord.sum);
    words[at + OpenWord.state] = 1;
  }

  /** The place is free. */
  ended(place: number): void {
    this.words[this.places.openAt + place * OPEN_WORDS + OpenWord.state] = 0;
  }

  // Where a record of so many words goes; 0 when it has no place here.
  private begin(length: number): number {
    if (state.names.texts.length > this.named) this.writeNames();
    if (this.places.rowsAt + this.used + length > this.words.length) {
      this.blocks.make();
      return 0;
    }
    this.words[TailWord.writing] = 1;
    return this.places.rowsAt + this.used;
  }

  // The words of the header last: what they do not speak of is not there.
  private commit(at: number, length: number): void {
    const { words } = this;
    words[at] = length;
    words[at + RowWord.sum] = sumOf(words, at + RowWord.bits, at + length);
    this.used += length;
    words[TailWord.rows] = this.used;
    words[TailWord.writing] = 0;
  }

  private putTrace(at: number, { w0, w1, w2, w3 }: SpanContext): void {
    const { words } = this;
    words[at] = w0;
    words[at + 1] = w1;
    words[at + 2] = w2;
    words[at + 3] = w3;
  }

  // Entries as they are, but for where their texts lie: here, behind the entries.
  private putEntries(at: number, { entries }: RowChunk, head: number, count: number): void {
    const { words } = this;
    const from = entries.words;
    const source = entries.text.bytes;
    const textAt = (at + count * 4) * 4;
    let text = 0;
    for (let i = 0, to = at, source4 = head * 4; i < count; i++, to += 4, source4 += 4) {
      const tag = from[source4 + 1];
      words[to] = from[source4];
      words[to + 1] = tag;
      words[to + 2] = from[source4 + 2];
      words[to + 3] = from[source4 + 3];
      if (!isText(tag & 0xff)) continue;
      words[to + 2] = text;
      this.putText(textAt + text, source, from[source4 + 2], from[source4 + 3]);
      text += from[source4 + 3];
    }
    for (; (text & 7) !== 0; text++) this.bytes[textAt + text] = 0;
  }

  private putText(to: number, source: Buffer, from: number, length: number): void {
    const { bytes } = this;
    if (length > SHORT_TEXT) source.copy(bytes, to, from, from + length);
    else for (let i = 0; i < length; i++) bytes[to + i] = source[from + i];
  }

  private writeNames(): void {
    const { texts } = state.names;
    const { namesAt, namesEnd } = this.places;
    for (; this.named < texts.length; this.named++) {
      const text = texts[this.named];
      const at = namesAt + this.nameWords;
      if (at + 2 + ((text.length + 1) >> 1) > namesEnd) {
        this.refused += texts.length - this.named;
        this.named = texts.length;
        return;
      }
      // Which keeps every string as it is.
      const length = this.bytes.write(text, (at + 2) * 4, 'utf16le');
      this.words[at] = this.named;
      this.words[at + 1] = length;
      this.nameWords += 2 + ((length + 3) >> 2);
      this.words[TailWord.names] = this.nameWords;
    }
  }
}

const systemError = (errno: number, path: string): NodeJS.ErrnoException => {
  const code = getSystemErrorName(-errno);
  return Object.assign(new Error(`${code}: ${TAIL_BYTES} bytes of ${path} cannot be taken`), {
    code,
    errno: -errno,
    path,
  });
};

const textBytes = (words: Int32Array, head: number, count: number): number => {
  let bytes = 0;
  for (let at = head * 4, end = (head + count) * 4; at < end; at += 4) {
    if (isText(words[at + 1] & 0xff)) bytes += words[at + 3];
  }
  return bytes;
};
