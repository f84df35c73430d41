// How cells and blocks of cells are named in LMDB. An entry is `row NUL family NUL qualifier`, so that rows, families and qualifiers come in byte
// order. Rows longer than an LMDB key has room for are cut in two: their head is an entry of its own, without NUL, whose value is a number, and the
// rest sorts under that number in a second database. The cut must keep the order of all rows.
//
// Cells of a row and family that fit into one block are in the head, the entry `row NUL family NUL`. Of others the head is a directory that names
// each block after the qualifier from which on it holds cells; the block lies behind the head, under one more NUL and that name. A writer finds
// blocks by the directory alone, never by a cursor inside its transaction.
//
//     directory := 0xfe name (NUL name)*       names in UTF-8, in the order of their bytes
import type { Key } from 'lmdb';
import { firstIndex } from 'spanline/internal/base';
import { compareBytes } from '../cells.js';

/** An entry's key; bytes only as a bound of a range. */
export type EntryKey = string | Uint8Array;

/** Rows of more bytes than this are cut. Head, family and qualifier together stay below the 4,026 bytes of an LMDB key. */
export const MAX_WHOLE_ROW_BYTES = 2048;

// The highest character: sorts behind every row that is a head with a few more bytes, which is all a whole row can be.
const HEAD_END = '\u{10ffff}';
const ID_DIGITS = 12;

/** The two parts of a row that is too long for one key, or undefined. */
export const cutRow = (row: string): { readonly head: string; readonly rest: string } | undefined => {
  // A char is at most three bytes, so most rows need no count.
  if (row.length * 3 <= MAX_WHOLE_ROW_BYTES || Buffer.byteLength(row) <= MAX_WHOLE_ROW_BYTES) return undefined;
  const bytes = Buffer.from(row);
  let end = MAX_WHOLE_ROW_BYTES;
  // Back to where a character starts.
  while (((bytes[end] as number) & 0xc0) === 0x80) end--;
  const head = bytes.toString('utf8', 0, end);
  return { head, rest: row.slice(head.length) };
};

/** The name of a cell in a whole row, or in the rest of a cut one. */
export const cellKey = (row: string, family: string, qualifier: string): string => `${row}\0${family}\0${qualifier}`;

/** The entry of a head. */
export const headKey = (head: string): string => head + HEAD_END;

/** The head of such an entry; undefined for a cell. */
export const headOf = (key: string): string | undefined =>
  key.includes('\0') ? undefined : key.slice(0, -HEAD_END.length);

/** Where the rests of one head are. */
export const restPrefix = (id: number): string => `${String(id).padStart(ID_DIGITS, '0')}:`;

/** Keys as UTF-8 text, written where lmdb wants them; bytes serve as bounds that no text can express. */
export const KEY_ENCODER = {
  writeKey(key: Key, target: Buffer, start: number): number {
    if (typeof key === 'string') return start + target.write(key, start, 'utf8');
    target.set(key as Uint8Array, start);
    return start + (key as Uint8Array).length;
  },
  readKey(source: Buffer, start: number, end: number): string {
    return source.toString('utf8', start, end);
  },
};

const DIRECTORY = 0xfe;
const MARK = Buffer.from([DIRECTORY]);

/** Whether an entry is a directory. */
export const isDirectory = (entry: Buffer): boolean => entry[0] === DIRECTORY;

/** The names of the blocks, at least one. */
export const readDirectory = (entry: Buffer): string[] => entry.toString('utf8', 1).split('\0');

/** The entry of a directory. */
export const directoryEntry = (names: readonly string[]): Buffer =>
  Buffer.concat([MARK, Buffer.from(names.join('\0'))]);

/** The key of a block. */
export const blockKey = (head: string, name: string): string => `${head}\0${name}`;

/** Which block holds `qualifier` if any does: the last one named at or before it, else the first, which has all that sorts before. */
export const blockFor = (names: readonly string[], qualifier: string): number =>
  firstIndex(1, names.length, (i) => compareBytes(names[i] as string, qualifier) > 0) - 1;
