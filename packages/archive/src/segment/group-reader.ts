// Fetches and decodes groups: parts out of the cache, or all that are missing in one batch of reads, and what they take in memory then. A damaged
// part spoils its own group and no other. A part is added to segments here, in layout.ts and in write-segment.ts.

import { GraphError, NODES_PER_BLOCK, type ReferenceRows, type TransportReadOptions } from '@spanline/graph';
import { checkForm, type Place, sectionReader } from '@spanline/graph/internal';
import type { ByteReader } from 'spanline/internal/base';
import type { PartRef } from './groups.js';
import { PARTS, type Part } from './layout.js';
import { EventColumns, LinkColumns, SpanTexts } from './optional-parts.js';
import { PropertyBlock } from './properties.js';
import { eachOrDamage, guarded, type SegmentFile } from './segment-file.js';
import { SpanColumns, type SpanTimesRead } from './span-columns.js';
import { decodeTraceRows, type TraceRow } from './trace-rows.js';

/** What parts become. */
interface DecodedParts {
  readonly traceRows: readonly TraceRow[];
  readonly spans: SpanColumns;
  readonly properties: PropertyBlock;
  readonly events: EventColumns;
  readonly links: LinkColumns;
  readonly texts: SpanTexts;
}

/** What decoding a part needs beside its bytes. */
interface DecodeContext {
  readonly file: SegmentFile;
  readonly group: number;
  /** Of the group; empty while they are decoded. */
  readonly traceRows: readonly TraceRow[];
}

type Decode<P extends Part> = (bytes: Buffer, context: DecodeContext) => DecodedParts[P];

const whatOf = (part: Part, { file, group }: DecodeContext): string => `block ${group} of ${part} of ${file.name}`;

const readerOf = (part: Part, bytes: Buffer, context: DecodeContext): ByteReader =>
  sectionReader(bytes, whatOf(part, context), part, context.group);

const DECODERS: { readonly [P in Part]: Decode<P> } = {
  traceRows: (bytes, context) => {
    const { groups, models, tables } = context.file;
    const { group } = context;
    const shape = {
      spanCount: groups.spanCount(group),
      rowCount: groups.rowCounts[group],
      startUnixNs: groups.starts[group],
    };
    const { startUnit, unit, traceRows } = models;
    const shared = { models: traceRows, strings: tables.strings, startUnit, unit };
    return decodeTraceRows(bytes, shape, shared, whatOf('traceRows', context), group);
  },
  spans: (bytes, context) => {
    const { tables, models } = context.file;
    const { base, unit, resourceContext } = models;
    const shared = { tables, models: models.spans, base, unit, resourceContext };
    return new SpanColumns(bytes, spansIn(context), context.traceRows, shared, whatOf('spans', context), context.group);
  },
  properties: (bytes, context) => {
    const reader = readerOf('properties', bytes, context);
    const properties = new PropertyBlock(reader, context.file.tables.strings, spansIn(context));
    reader.end();
    return properties;
  },
  events: (bytes, context) =>
    new EventColumns(readerOf('events', bytes, context), context.file.tables.strings, spansIn(context)),
  links: (bytes, context) =>
    new LinkColumns(readerOf('links', bytes, context), context.file.tables.strings, spansIn(context)),
  texts: (bytes, context) => new SpanTexts(readerOf('texts', bytes, context), spansIn(context)),
};

const spansIn = ({ file, group }: DecodeContext): number => file.groups.spanCount(group);

/** Memory of a decoded part beside its bytes. */
const PART_BYTES = 512;
const TRACE_ROW_BYTES = 200;
/** Columns of objects take so many times their bytes. */
const OBJECT_FACTOR = 3;

/** What a decoded part takes in memory, about. */
const memoryOf = (decoded: DecodedParts[Part], inflatedLength: number): number => {
  if (decoded instanceof SpanColumns) return PART_BYTES + decoded.memoryBytes;
  if (Array.isArray(decoded)) return PART_BYTES + decoded.length * TRACE_ROW_BYTES;
  return PART_BYTES + inflatedLength * OBJECT_FACTOR;
};

/** A group as far as it was asked for; parts that it does not have are undefined. */
export interface Group extends Partial<DecodedParts> {
  readonly number: number;
  readonly traceRows: DecodedParts['traceRows'];
}

/** A group with everything, times decoded. */
export interface WholeGroup extends Group {
  readonly spans: DecodedParts['spans'];
  readonly times: SpanTimesRead;
}

/** When the pieces of traces in a group were, and which of its spans they have. */
export interface GroupExtents {
  readonly marks: Uint32Array;
  /** The first span of each, counted from that of the group, and the end of the last. */
  readonly firsts: Uint32Array;
  /** Unix nanoseconds. */
  readonly starts: BigUint64Array;
  readonly ends: BigUint64Array;
}

const extentsOf = (rows: readonly TraceRow[]): GroupExtents => {
  const last = rows.at(-1);
  return {
    marks: Uint32Array.from(rows, ({ mark }) => mark),
    firsts: Uint32Array.from([...rows.map(({ first }) => first), last === undefined ? 0 : last.first + last.spanCount]),
    starts: BigUint64Array.from(rows, ({ startUnixNs }) => startUnixNs),
    ends: BigUint64Array.from(rows, ({ endUnixNs }) => endUnixNs),
  };
};

/** Memory of the extents of a group beside those of its rows, and of one of them. */
const EXTENTS_BYTES = 800;
const EXTENT_BYTES = 24;

/** What each group asked for became. */
export type Outcome<T> = ReadonlyMap<number, T | GraphError>;

/** A part as it was found: decoded, in bytes, or damaged. */
type Found = { readonly decoded: DecodedParts[Part] } | { readonly bytes: Buffer } | { readonly error: GraphError };

/** Groups as far as they were fetched, decoded when they are asked for. */
export type DecodeGroups = (groups: readonly number[]) => Outcome<Group>;

/** The groups of one segment. */
export class GroupReader {
  constructor(readonly file: SegmentFile) {}

  /** Groups with all parts, and the parents of their spans. */
  async whole(groups: readonly number[], options?: TransportReadOptions): Promise<Outcome<WholeGroup>> {
    const timeless = groups.filter((group) => this.#cachedSpans(group)?.known === undefined);
    const [loaded, parents] = await Promise.all([
      this.load(groups, PARTS, options),
      this.#parentsOf(timeless, options),
    ]);
    const whole = new Map<number, WholeGroup | GraphError>();
    for (const [number, group] of loaded) {
      if (group instanceof GraphError) whole.set(number, group);
      else
        whole.set(
          number,
          guarded(() => this.#complete(group, parents.get(number))),
        );
    }
    return whole;
  }

  /** Groups with some parts, and always the rows of their traces. */
  async load(
    groups: readonly number[],
    parts: readonly Part[],
    options?: TransportReadOptions,
  ): Promise<Outcome<Group>> {
    return (await this.fetch(groups, parts, options))(groups);
  }

  /** The same, of which only the bytes are read now: what is decoded is in the cache, and decoded again when it is there no longer. */
  async fetch(
    groups: readonly number[],
    parts: readonly Part[],
    options?: TransportReadOptions,
  ): Promise<DecodeGroups> {
    // Rows first: other parts are decoded by them.
    const wanted = PARTS.filter((part) => part === 'traceRows' || parts.includes(part));
    const refs = groups.flatMap((group) => wanted.flatMap((part) => this.file.groups.ref(part, group) ?? []));
    const { found, missing } = this.#known(refs);
    await this.#fetch(missing, found, options);
    return (some) => new Map(some.map((group) => [group, guarded(() => this.#decode(group, wanted, found))]));
  }

  /** When the traces of groups were: an eighth of what their rows take is kept. */
  async extents(groups: readonly number[], options?: TransportReadOptions): Promise<Outcome<GroupExtents>> {
    const { cache } = this.file;
    const result = new Map<number, GroupExtents | GraphError>();
    const refs: PartRef[] = [];
    for (const group of groups) {
      const known = cache.get(this.#extentsKeyOf(group)) as GroupExtents | undefined;
      const ref = this.file.groups.ref('traceRows', group);
      if (known !== undefined) result.set(group, known);
      else if (ref !== undefined) refs.push(ref);
    }
    const { found, missing } = this.#known(refs);
    await this.#fetch([...missing, ...this.#allRowsAround(missing)], found, options);
    for (const ref of refs) {
      const { group } = ref;
      const extents = guarded(() => {
        const one = found.get(this.#keyOf(ref)) as Found;
        return extentsOf('decoded' in one ? (one.decoded as DecodedParts['traceRows']) : this.#rowsIn(one, ref));
      });
      result.set(group, extents);
      if (!(extents instanceof GraphError))
        cache.set(this.#extentsKeyOf(group), extents, EXTENTS_BYTES + EXTENT_BYTES * extents.marks.length);
    }
    return result;
  }

  /** The first and the last rows, where those between are most: far away all cost hardly more, and the next question is often about the others. */
  #allRowsAround(refs: readonly PartRef[]): PartRef[] {
    const { groups, isFar } = this.file;
    if (!isFar || refs.length === 0) return [];
    const numbers = refs.map(({ group }) => group);
    if (2 * (Math.max(...numbers) - Math.min(...numbers)) < groups.count) return [];
    return [0, groups.count - 1].flatMap((group) =>
      numbers.includes(group) ? [] : (groups.ref('traceRows', group) ?? []),
    );
  }

  #rowsIn(found: Exclude<Found, { readonly decoded: unknown }>, ref: PartRef): DecodedParts['traceRows'] {
    if ('error' in found) throw found.error;
    const bytes = this.file.container.restored(found.bytes, ref, this.#placeOf(ref));
    return DECODERS.traceRows(bytes, { file: this.file, group: ref.group, traceRows: [] });
  }

  #extentsKeyOf(group: number): string {
    return `${this.file.cacheKey}extents ${group}`;
  }

  /** What the cache has of `refs`, and the others. */
  #known(refs: readonly PartRef[]): { readonly found: Map<string, Found>; readonly missing: PartRef[] } {
    const found = new Map<string, Found>();
    const missing = refs.filter((ref) => {
      const decoded = this.file.cache.get(this.#keyOf(ref)) as DecodedParts[Part] | undefined;
      if (decoded !== undefined) found.set(this.#keyOf(ref), { decoded });
      return decoded === undefined;
    });
    return { found, missing };
  }

  /** Read `refs` in one batch. */
  async #fetch(refs: readonly PartRef[], found: Map<string, Found>, options?: TransportReadOptions): Promise<void> {
    const { container } = this.file;
    const sound = refs.filter((ref) => {
      const error = guarded(() => checkForm(ref, this.#placeOf(ref), container.maxBlockBytes));
      if (error !== undefined) found.set(this.#keyOf(ref), { error });
      return error === undefined;
    });
    if (sound.length === 0) return;
    const ranges = sound.map(({ offset, storedLength }) => ({ offset, length: storedLength }));
    const stored = await container.readStored(ranges, options);
    sound.forEach((ref, i) => {
      found.set(this.#keyOf(ref), { bytes: stored[i] });
    });
  }

  #decode(number: number, parts: readonly Part[], found: ReadonlyMap<string, Found>): Group {
    const group: { -readonly [K in keyof Group]: Group[K] } = { number, traceRows: [] };
    for (const part of parts) {
      const ref = this.file.groups.ref(part, number);
      if (ref !== undefined)
        Object.assign(group, { [part]: this.#part(ref, group, found.get(this.#keyOf(ref)) as Found) });
    }
    return group;
  }

  #part(ref: PartRef, { number, traceRows }: Group, found: Found): DecodedParts[Part] {
    if ('decoded' in found) return found.decoded;
    if ('error' in found) throw found.error;
    const known = this.file.cache.get(this.#keyOf(ref)) as DecodedParts[Part] | undefined;
    if (known !== undefined) return known;
    const bytes = this.file.container.restored(found.bytes, ref, this.#placeOf(ref));
    const decoded = DECODERS[ref.part](bytes, { file: this.file, group: number, traceRows });
    this.file.cache.set(this.#keyOf(ref), decoded, memoryOf(decoded, ref.inflatedLength));
    return decoded;
  }

  #cachedSpans(group: number): DecodedParts['spans'] | undefined {
    const ref = this.file.groups.ref('spans', group);
    return ref === undefined ? undefined : (this.file.cache.get(this.#keyOf(ref)) as DecodedParts['spans'] | undefined);
  }

  #complete(group: Group, parents: Float64Array | GraphError | undefined): WholeGroup {
    const { spans } = group;
    // The table was checked to have it.
    if (spans === undefined) throw new TypeError(`group ${group.number} has no spans`);
    if (spans.known !== undefined) return { ...group, spans, times: spans.known };
    if (parents === undefined || parents instanceof GraphError) throw parents ?? new TypeError('parents were not read');
    return { ...group, spans, times: spans.decodeTimes(parents, this.file.groups.firsts[group.number]) };
  }

  async #parentsOf(groups: readonly number[], options?: TransportReadOptions): Promise<Outcome<Float64Array>> {
    const { firsts } = this.file.groups;
    const wanted = new Set<number>();
    for (const group of groups) for (const block of blocksOf(firsts[group], firsts[group + 1])) wanted.add(block);
    const blocks = await this.#referenceBlocks([...wanted], options);
    const result = new Map<number, Float64Array | GraphError>();
    for (const group of groups) {
      const own = blocksOf(firsts[group], firsts[group + 1]).map((block) => blocks.get(block));
      const error = own.find((block) => block instanceof GraphError);
      if (error instanceof GraphError) result.set(group, error);
      else result.set(group, parentsIn(own as ReferenceRows[], firsts[group], firsts[group + 1]));
    }
    return result;
  }

  async #referenceBlocks(
    blocks: readonly number[],
    options?: TransportReadOptions,
  ): Promise<ReadonlyMap<number, ReferenceRows | GraphError>> {
    const { parents, container } = this.file;
    const rows = await eachOrDamage(blocks, async (some) => {
      const { references } = await container.run(parents.load({ references: some }), options);
      return some.map((block) => (references.get(block) as readonly ReferenceRows[])[0]);
    });
    return new Map(blocks.map((block, i) => [block, rows[i]]));
  }

  #keyOf({ part, group }: PartRef): string {
    return `${this.file.cacheKey}${part} ${group}`;
  }

  #placeOf({ part, group }: PartRef): Place {
    return { file: this.file.name, section: part, block: group };
  }
}

const blocksOf = (start: number, end: number): number[] => {
  const blocks: number[] = [];
  for (let block = Math.floor(start / NODES_PER_BLOCK); block * NODES_PER_BLOCK < end; block++) blocks.push(block);
  return blocks;
};

/** Parents of ordinals `start` to `end`, whose blocks these are. */
const parentsIn = (blocks: readonly ReferenceRows[], start: number, end: number): Float64Array => {
  const firstBlock = Math.floor(start / NODES_PER_BLOCK);
  const parents = new Float64Array(end - start);
  for (let ordinal = start; ordinal < end; ordinal++) {
    const { offsets, targets } = blocks[Math.floor(ordinal / NODES_PER_BLOCK) - firstBlock];
    const at = ordinal % NODES_PER_BLOCK;
    parents[ordinal - start] = offsets[at + 1] > offsets[at] ? targets[offsets[at]] : -1;
  }
  return parents;
};
