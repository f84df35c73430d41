// Texts that a segment uses again and again, each once: names and keys. A text used once only is written where it is used, so that the
// table, which every reader of the file holds, stays small whatever people put into names.
import type { ByteReader } from '../../../base/bytes/byte-reader.js';
import type { ByteWriter } from '../../../base/bytes/byte-writer.js';
import { readText, TextColumn, writeText, writeTexts } from '../values/text-column.js';

/** Bounds of the table. */
export const MAX_TABLE_TEXTS = 32_768;
const MAX_TABLE_CHARACTERS = 1024 * 1024;

/** Counts how often texts are used. */
export class StringCounts {
  private readonly counts = new Map<string, number>();

  add(text: string, uses = 1): void {
    this.counts.set(text, (this.counts.get(text) ?? 0) + uses);
  }

  /** The texts used twice at least, those used most first. */
  table(): StringTable {
    const repeated = [...this.counts].filter(([, uses]) => uses > 1);
    repeated.sort(([a, usesOfA], [b, usesOfB]) => usesOfB - usesOfA || (a < b ? -1 : 1));
    const texts: string[] = [];
    let characters = 0;
    for (const [text] of repeated) {
      characters += text.length;
      if (texts.length === MAX_TABLE_TEXTS || characters > MAX_TABLE_CHARACTERS) break;
      texts.push(text);
    }
    return new StringTable(texts);
  }
}

/** Texts by number; a reference to a text is its number plus one, or zero and the text itself. */
export class StringTable {
  private numbers: Map<string, number> | undefined;

  constructor(readonly texts: readonly string[]) {}

  /** The number of a text, -1 when it is not in the table. */
  numberOf(text: string): number {
    this.numbers ??= new Map(this.texts.map((known, number) => [known, number]));
    return this.numbers.get(text) ?? -1;
  }

  writeRef(writer: ByteWriter, text: string): void {
    const number = this.numberOf(text);
    writer.varint(number + 1);
    if (number < 0) writeText(writer, text);
  }

  readRef(reader: ByteReader): string {
    const ref = reader.varint();
    if (ref === 0) return readText(reader);
    const text = this.texts[ref - 1];
    if (text === undefined) throw reader.corrupt('names a text that does not exist');
    return text;
  }

  write(writer: ByteWriter): void {
    writer.varint(this.texts.length);
    writeTexts(writer, this.texts);
  }

  static read(reader: ByteReader): StringTable {
    const count = reader.varint();
    if (count > MAX_TABLE_TEXTS) throw reader.corrupt(`has ${count} texts`);
    const column = TextColumn.read(reader, count);
    return new StringTable(Array.from({ length: count }, (_, i) => column.get(i)));
  }
}
