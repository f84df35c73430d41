// Texts that stand in a file once and are referred to by number: names of events, categories, keys of annotations. Bounded: a text beyond the
// bound gets no number and is written where it is used.
import type { ByteWriter } from '../../base/bytes/byte-writer.js';
import * as Field from './fields.js';
import { beginField, endField, writeText, writeWhole } from './wire.js';

const MAX_TEXTS = 1 << 16;
/** Longer texts are rarely said twice. */
const MAX_LENGTH = 1024;

/** One index of texts. Entries that are new since the last packet are in `fresh`. */
class Index {
  readonly #ids = new Map<string, number>();

  readonly #fresh: ByteWriter;
  readonly #fieldTag: number;

  constructor(fresh: ByteWriter, fieldTag: number) {
    this.#fresh = fresh;
    this.#fieldTag = fieldTag;
  }

  /** The number of a text, from 1 on; 0 where it has none. */
  idOf(text: string): number {
    const known = this.#ids.get(text);
    if (known !== undefined) return known;
    if (this.#ids.size >= MAX_TEXTS || text.length > MAX_LENGTH) return 0;
    const id = this.#ids.size + 1;
    this.#ids.set(text, id);
    const start = beginField(this.#fresh, this.#fieldTag);
    writeWhole(this.#fresh, Field.ENTRY_ID, id);
    writeText(this.#fresh, Field.ENTRY_NAME, text);
    endField(this.#fresh, start);
    return id;
  }
}

/** All indices of a sequence of packets. */
export class Interned {
  readonly names: Index;
  readonly categories: Index;
  readonly keys: Index;

  /** @param fresh Gets the entries; whoever writes a packet puts them into it and clears this. */
  constructor(readonly fresh: ByteWriter) {
    this.names = new Index(fresh, Field.INTERNED_NAMES);
    this.categories = new Index(fresh, Field.INTERNED_CATEGORIES);
    this.keys = new Index(fresh, Field.INTERNED_KEYS);
  }
}
