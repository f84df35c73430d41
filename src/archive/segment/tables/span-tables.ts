// What many spans of a segment share: resources, scopes, and shapes (name, kind and scope together). Those used most have the small
// numbers. Readers hold these tables, so what does not repeat, or would make them large, is written where it is used.
import type { ByteReader } from '../../../base/bytes/byte-reader.js';
import { ByteWriter } from '../../../base/bytes/byte-writer.js';
import type { ArchivedKind, ArchivedResource, ArchivedScope } from '../../../trace/archived-span.js';
import { restored, storedProperties } from '../../stored-extras.js';
import { KINDS } from '../order/span-rows.js';
import { readText, writeText } from '../values/text-column.js';
import { readProperties, writeProperties } from '../values/value-codec.js';
import { StringTable } from './string-table.js';

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
  private scopeNumbers: Map<ArchivedScope, number> | undefined;

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
    this.scopeNumbers ??= new Map(this.scopes.map((known, number) => [known, number]));
    const number = this.scopeNumbers.get(scope) ?? -1;
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
