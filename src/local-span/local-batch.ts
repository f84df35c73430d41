// A batch of finished local spans without a trace: rows of its own, closed under parents, left to the garbage collector. It may be
// mounted under several spans, and is never changed once it was handed over.

import { nameText } from '../rows/property.js';
import { CHUNK_ROWS, Flag, NO_SLOT, RowChunk } from '../rows/row-chunk.js';
import { writeDetails } from '../rows/row-entries.js';
import { internName } from '../rows/row-text.js';
import type { LocalSpan } from './local-span.js';

// Most collections are small.
const FIRST_ROWS = 32;

// What the objects of a chunk take on the heap, by estimate.
const CHUNK_OBJECTS = 2048;

export class LocalBatch {
  readonly chunks: RowChunk[] = [];
  count = 0;

  /** Add a local span that has ended. A span without a parent here has the parent id 0, and is a top one. */
  add(span: LocalSpan, end: number): void {
    const name = internName(span.name);
    // May run code of the program, which may add further spans.
    const text = name === 0 ? nameText(span.name) : null;
    let chunk = this.chunks.at(-1);
    if (chunk === undefined || chunk.isFull) {
      chunk = new RowChunk(Math.min(CHUNK_ROWS, Math.max(FIRST_ROWS, this.count)));
      this.chunks.push(chunk);
    }
    const { outer } = span;
    writeDetails(chunk.entries, span, text, null);
    chunk.add(span, outer?.idHi ?? 0, outer?.idLo ?? 0, NO_SLOT, name, Flag.local, end);
    this.count++;
  }

  /** Bytes held: its chunks are its own, however few rows they have. */
  get byteSize(): number {
    return this.chunks.reduce((sum, { byteSize }) => sum + byteSize + CHUNK_OBJECTS, 0);
  }

  /** The `n` spans that started first, which have the parents of all of them. */
  first(n: number): { readonly chunk: RowChunk; readonly row: number }[] {
    const rows = this.chunks.flatMap((chunk) => Array.from({ length: chunk.count }, (_, row) => ({ chunk, row })));
    if (n >= rows.length) return rows;
    const start = ({ chunk, row }: (typeof rows)[number]): number => chunk.begins[row];
    const id = ({ chunk, row }: (typeof rows)[number]): number => chunk.idLos[row];
    return rows.sort((a, b) => start(a) - start(b) || id(a) - id(b)).slice(0, n);
  }
}
