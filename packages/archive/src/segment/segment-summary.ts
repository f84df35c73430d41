// What a segment holds, in a few words: enough to pass it over when a search cannot find anything in it.
//
//     summary   = spans:varint traces:varint start:u64 end:u64 doubles:varint listsAll:byte n:varint service[n]
//     service   = ref n:varint operation[n]
//     operation = ref kind:byte
import { type ByteReader, ByteWriter } from 'spanline/internal/base';
import type { ArchivedKind } from 'spanline/internal/record';
import { KINDS, readTime, writeTime } from '../values/fields.js';
import type { StringTable } from './span-tables.js';

/** Operations that are listed; a segment with more says that its list has an end. */
const MAX_OPERATIONS = 65_536;
const MAX_OPERATION_CHARACTERS = 1024 * 1024;

/** What spans of a service are called. */
export interface SegmentOperation {
  readonly name: string;
  readonly kind: ArchivedKind;
}

/** What a segment holds. */
export interface SegmentSummary {
  readonly spanCount: number;
  /** Traces of which it has at least one span. */
  readonly traceCount: number;
  /** From the first start to the last end; zero when it is empty. */
  readonly startUnixNs: bigint;
  readonly endUnixNs: bigint;
  /** Names of services, '' among them where spans have none. */
  readonly services: readonly string[];
  /** Names and kinds of spans by service. */
  readonly operations: ReadonlyMap<string, readonly SegmentOperation[]>;
  /** False when there are more services or names than `operations` lists. */
  readonly listsAllOperations: boolean;
  /** Spans that came twice, of which the first was dropped. */
  readonly doubles: number;
}

/** What a summary says of services. */
export type ServiceSummary = Pick<SegmentSummary, 'services' | 'operations' | 'listsAllOperations'>;

const byNameAndKind = (a: SegmentOperation, b: SegmentOperation): number =>
  a.name === b.name ? KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) : a.name < b.name ? -1 : 1;

/** Collects services and operations. */
export class OperationList {
  readonly #byService = new Map<string, Map<string, SegmentOperation>>();
  #count = 0;
  #characters = 0;
  #isFull = false;

  add(service: string, { name, kind }: SegmentOperation): void {
    let operations = this.#byService.get(service);
    const key = `${kind} ${name}`;
    if (operations?.has(key) === true || this.#isFull) return;
    this.#count++;
    this.#characters += name.length + (operations === undefined ? service.length : 0);
    if (this.#count > MAX_OPERATIONS || this.#characters > MAX_OPERATION_CHARACTERS) {
      this.#isFull = true;
      return;
    }
    if (operations === undefined) {
      operations = new Map();
      this.#byService.set(service, operations);
    }
    operations.set(key, { name, kind });
  }

  finish(): ServiceSummary {
    const services = [...this.#byService.keys()].sort();
    const operations = services.map((service) => {
      const list = [...(this.#byService.get(service)?.values() ?? [])].sort(byNameAndKind);
      return [service, list] as const;
    });
    return { services, operations: new Map(operations), listsAllOperations: !this.#isFull };
  }
}

export const encodeSummary = (summary: SegmentSummary, strings: StringTable): Buffer => {
  const writer = new ByteWriter();
  writer.varint(summary.spanCount);
  writer.varint(summary.traceCount);
  writeTime(writer, summary.startUnixNs);
  writeTime(writer, summary.endUnixNs);
  writer.varint(summary.doubles);
  writer.byte(summary.listsAllOperations ? 1 : 0);
  writer.varint(summary.operations.size);
  for (const [service, operations] of summary.operations) {
    strings.writeRef(writer, service);
    writer.varint(operations.length);
    for (const { name, kind } of operations) {
      strings.writeRef(writer, name);
      writer.byte(KINDS.indexOf(kind));
    }
  }
  return Buffer.from(writer.view());
};

export const decodeSummary = (reader: ByteReader, strings: StringTable): SegmentSummary => {
  const spanCount = reader.varint();
  const traceCount = reader.varint();
  const startUnixNs = readTime(reader);
  const endUnixNs = readTime(reader);
  const doubles = reader.varint();
  const listsAllOperations = reader.byte() === 1;
  const operations = new Map<string, SegmentOperation[]>();
  for (let left = countOf(reader); left > 0; left--) {
    const service = strings.readRef(reader);
    const list: SegmentOperation[] = [];
    for (let more = countOf(reader); more > 0; more--) {
      const name = strings.readRef(reader);
      const kind = KINDS[reader.byte()];
      if (kind === undefined) throw reader.corrupt('has an operation of unknown kind');
      list.push({ name, kind });
    }
    operations.set(service, list);
  }
  reader.end();
  if (traceCount > spanCount) throw reader.corrupt('has more traces than spans');
  const services = [...operations.keys()];
  return { spanCount, traceCount, startUnixNs, endUnixNs, services, operations, listsAllOperations, doubles };
};

const countOf = (reader: ByteReader): number => {
  const count = reader.varint();
  if (count > reader.left) throw reader.corrupt('is too short for its names');
  return count;
};
