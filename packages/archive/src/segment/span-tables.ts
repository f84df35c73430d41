// The tables of a segment: texts, resources, scopes and shapes that spans share. A thing used only once is written where it is used, so
// that the tables, which every reader of the file holds, stay small whatever people put into names.
//
//     tables   = n:varint texts(n) n:varint resource[n] n:varint scope[n] n:varint shape[n]
//     resource = properties
//     scope    = name:text version:text properties
//     shape    = name:ref kind:byte scope:varint (0: scope follows)      else the number of the scope, plus one
//     ref      = varint (0: text follows)                                else the number of a text of the table, plus one
import { type ByteReader, ByteWriter } from 'spanline/internal/base';
import type { ArchivedKind, ArchivedResource, ArchivedScope } from 'spanline/internal/record';
import { restored, storedProperties } from '../stored-extras.js';
import { KINDS } from '../values/fields.js';
import { readProperties, readText, TextColumn, writeProperties, writeText, writeTexts } from '../values/values.js';

/** Bounds of the table. */
const MAX_TABLE_TEXTS = 32_768;
const MAX_TABLE_CHARACTERS = 1024 * 1024;

/** Counts how often texts are used. */
export class StringCounts {
  readonly #counts = new Map<string, number>();

  add(text: string, uses = 1): void {
    this.#counts.set(text, (this.#counts.get(text) ?? 0) + uses);
  }

  /** The texts used twice at least, those used most first. */
  table(): StringTable {
    const repeated = [...this.#counts].filter(([, uses]) => uses > 1);
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
  #numbers: Map<string, number> | undefined;

  constructor(readonly texts: readonly string[]) {}

  /** The number of a text, -1 when it is not in the table. */
  numberOf(text: string): number {
    this.#numbers ??= new Map(this.texts.map((known, number) => [known, number]));
    return this.#numbers.get(text) ?? -1;
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
    const column = new TextColumn(reader, count);
    return new StringTable(Array.from({ length: count }, (_, i) => column.get(i)));
  }
}

/** The symbol of what is told beside. */
export const BESIDE = 255;

export const tableSymbol = (number: number, tableLength: number): number =>
  number < tableLength && number < BESIDE ? number : BESIDE;

/** Tell what symbol `BESIDE` stands for; `inline` writes what is in no table. */
export const writeBeside = (side: ByteWriter, number: number, tableLength: number, inline: () => void): void => {
  if (number >= BESIDE && number < tableLength) side.varint(number - BESIDE + 1);
  else {
    side.varint(0);
    inline();
  }
};

/** The number told beside, -1 when the thing itself follows. */
export const readBeside = (side: ByteReader, tableLength: number): number => {
  const encoded = side.varint();
  if (encoded === 0) return -1;
  const number = encoded - 1 + BESIDE;
  if (number >= tableLength) throw side.corrupt('names an entry of a table that does not exist');
  return number;
};

/** Bounds of the tables. */
export const MAX_ENTRIES = 65_536;
export const MAX_ENTRY_BYTES = 8 * 1024 * 1024;

/** What spans of one operation share. */
export interface Shape {
  readonly name: string;
  readonly kind: ArchivedKind;
  readonly scope: ArchivedScope;
}

export const writeResource = (writer: ByteWriter, resource: ArchivedResource): void =>
  writeProperties(writer, storedProperties(resource));

export const readResource = (reader: ByteReader): ArchivedResource => restored(readProperties(reader));

export const writeScope = (writer: ByteWriter, scope: ArchivedScope): void => {
  writeText(writer, scope.name);
  writeText(writer, scope.version);
  writeProperties(writer, storedProperties(scope));
};

export const readScope = (reader: ByteReader): ArchivedScope => ({
  name: readText(reader),
  version: readText(reader),
  ...restored(readProperties(reader)),
});

/** The service a resource names, '' for none. */
export const serviceOf = ({ properties }: ArchivedResource): string => {
  const name = properties['service.name'];
  return typeof name === 'string' ? name : '';
};

/** The tables of a segment. */
export class SpanTables {
  /** By resource: what it is called. */
  readonly services: readonly string[];
  #scopeNumbers: Map<ArchivedScope, number> | undefined;

  constructor(
    readonly strings: StringTable,
    readonly resources: readonly ArchivedResource[],
    readonly scopes: readonly ArchivedScope[],
    readonly shapes: readonly Shape[],
  ) {
    this.services = resources.map(serviceOf);
  }

  /** A shape: its name, kind and scope; a scope that is in the table by its number. */
  writeShape(writer: ByteWriter, { name, kind, scope }: Shape): void {
    this.strings.writeRef(writer, name);
    writer.byte(KINDS.indexOf(kind));
    this.#scopeNumbers ??= new Map(this.scopes.map((known, number) => [known, number]));
    const number = this.#scopeNumbers.get(scope) ?? -1;
    writer.varint(number + 1);
    if (number < 0) writeScope(writer, scope);
  }

  readShape(reader: ByteReader): Shape {
    const name = this.strings.readRef(reader);
    const kind = KINDS[reader.byte()];
    const ref = reader.varint();
    const scope = ref === 0 ? readScope(reader) : this.scopes[ref - 1];
    if (kind === undefined || scope === undefined) throw reader.corrupt('has a shape that cannot be');
    return { name, kind, scope };
  }

  encode(): Buffer {
    const writer = new ByteWriter();
    this.strings.write(writer);
    writer.varint(this.resources.length);
    for (const resource of this.resources) writeResource(writer, resource);
    writer.varint(this.scopes.length);
    for (const scope of this.scopes) writeScope(writer, scope);
    writer.varint(this.shapes.length);
    for (const shape of this.shapes) this.writeShape(writer, shape);
    return Buffer.from(writer.view());
  }

  static decode(reader: ByteReader): SpanTables {
    const strings = StringTable.read(reader);
    const resources = readAll(reader, readResource);
    const scopes = readAll(reader, readScope);
    const shapes: Shape[] = [];
    const tables = new SpanTables(strings, resources, scopes, shapes);
    shapes.push(...readAll(reader, () => tables.readShape(reader)));
    reader.end();
    return tables;
  }
}

const readAll = <T>(reader: ByteReader, read: (reader: ByteReader) => T): T[] => {
  const count = reader.varint();
  if (count > MAX_ENTRIES || count > reader.left) throw reader.corrupt(`has a table of ${count} entries`);
  const entries: T[] = [];
  for (let i = 0; i < count; i++) entries.push(read(reader));
  return entries;
};
