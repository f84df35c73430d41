// The file of `file: DIR` that is mapped into memory: where each thing lies in it. What a process has recorded since its last block, names and
// spans that have not ended are there at every moment, so that they outlive it. All in 32-bit words, little end first.
//
//   header   64 words: magic, version, process id, words of rows, words of names, 1 while a row is written, open spans there is room for, 0; then
//            as doubles the ticks of a moment at which the process lived
//   names    number, bytes of UTF-16, the bytes; one behind the other, up to the length in the header
//   open     16 words each: 1 when it is one, name, id, parent id (two words each), trace id (four), bits, sum; the begin as a double
//   rows     records, one behind the other, up to the length in the header: words of the record, sum, kind and bits, number of entries,
//            bytes of text, flags, name, 0, id, parent id, trace id; begin and end as doubles; entries; their texts
//
// Each record begins at a multiple of two words. When all rows are in blocks, rows begin anew.

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
