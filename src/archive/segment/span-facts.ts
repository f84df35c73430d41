// What the tables of a segment are made from: shapes, resources, scopes and texts by number, dealt by how often each is used, and what each
// span takes. Things are told apart by identity first, which is fast, and by content after.
import { ByteWriter } from '../../base/bytes/byte-writer.js';
import { BadValueError, LimitError } from '../../container/graph-error.js';
import type { ArchivedProperties, ArchivedSpan } from '../../trace/archived-span.js';
import { EVENT_BYTES, LINK_BYTES, PROPERTY_BYTES, SPAN_BYTES } from '../span-memory.js';
import { storedProperties } from '../stored-extras.js';
import { decodedBytes } from '../values/values.js';
import { MAX_SPAN_BYTES } from './layout.js';
import { KINDS, type SpanRows, STATUS_CODES } from './span-rows.js';
import {
  MAX_ENTRIES,
  MAX_ENTRY_BYTES,
  type Shape,
  SpanTables,
  StringCounts,
  serviceOf,
  writeResource,
  writeScope,
} from './span-tables.js';
import type { SpanOrder } from './trace-order.js';

/** Numbers things that are the same when they are written the same. */
class Interner<T extends object> {
  readonly things: T[] = [];
  /** Bytes of each when written. */
  readonly bytes: number[] = [];
  private readonly byIdentity = new Map<T, number>();
  private readonly byContent = new Map<string, number>();
  private readonly scratch = new ByteWriter();
  private lastThing: T | undefined;
  private lastNumber = 0;

  constructor(private readonly write: (writer: ByteWriter, thing: T) => void) {}

  numberOf(thing: T): number {
    if (thing === this.lastThing) return this.lastNumber;
    this.lastThing = thing;
    this.lastNumber = this.byIdentity.get(thing) ?? this.add(thing);
    return this.lastNumber;
  }

  private add(thing: T): number {
    this.scratch.clear();
    this.write(this.scratch, thing);
    const content = this.scratch.view().toString('latin1');
    let number = this.byContent.get(content);
    if (number === undefined) {
      number = this.things.length;
      this.things.push(thing);
      this.bytes.push(content.length);
      this.byContent.set(content, number);
    }
    this.byIdentity.set(thing, number);
    return number;
  }
}

/** Old numbers from the one used most to the one used least, and the new number of each old one. */
interface Ranking {
  readonly order: readonly number[];
  readonly ranks: Uint32Array;
}

/** Rank numbers by their uses. */
const rankByUse = (uses: readonly number[]): Ranking => {
  const order = [...uses.keys()].sort((a, b) => uses[b] - uses[a] || a - b);
  const ranks = new Uint32Array(order.length);
  order.forEach((number, rank) => {
    ranks[number] = rank;
  });
  return { order, ranks };
};

/** What spans are made of, by ordinal. */
export interface SpanFacts {
  readonly tables: SpanTables;
  /** Numbers of tables; those beyond the end of a table are of things that are not in it, by the lists behind. */
  readonly resources: Uint32Array;
  readonly shapes: Uint32Array;
  readonly allResources: readonly ArchivedSpan['resource'][];
  readonly allShapes: readonly Shape[];
  /** Numbers of `STATUS_CODES`. */
  readonly statuses: Uint8Array;
  /** Bytes each span takes in memory, about. */
  readonly bytes: Uint32Array;
  /** No span has a resource or shape that must be written with it. */
  readonly areAllInTables: boolean;
  readonly hasLinks: boolean;
}

/** Walk over the spans of `order`; those at `heads` give their traces a name and a service. */
export const gatherFacts = ({ spans }: SpanRows, { rows, spanCount }: SpanOrder, heads: Uint32Array): SpanFacts => {
  const gathering = new Gathering(spanCount);
  for (let ordinal = 0; ordinal < spanCount; ordinal++) gathering.add(ordinal, spans[rows[ordinal]]);
  for (const ordinal of heads) gathering.addHead(spans[rows[ordinal]]);
  return gathering.finish();
};

class Gathering {
  private readonly strings = new StringCounts();
  private readonly resourceList = new Interner(writeResource);
  private readonly scopeList = new Interner(writeScope);
  private readonly shapeList: Shape[] = [];
  private readonly shapeNumbers = new Map<string, number[]>();
  private readonly resourceUses: number[] = [];
  private readonly scopeUses: number[] = [];
  private readonly shapeUses: number[] = [];
  private readonly resources: Uint32Array;
  private readonly shapes: Uint32Array;
  private readonly statuses: Uint8Array;
  private readonly bytes: Uint32Array;
  private hasLinks = false;

  constructor(count: number) {
    this.resources = new Uint32Array(count);
    this.shapes = new Uint32Array(count);
    this.statuses = new Uint8Array(count);
    this.bytes = new Uint32Array(count);
  }

  add(ordinal: number, span: ArchivedSpan): void {
    const resource = this.resourceList.numberOf(span.resource);
    this.resources[ordinal] = resource;
    this.resourceUses[resource] = (this.resourceUses[resource] ?? 0) + 1;
    const shape = this.shapeOf(span);
    this.shapes[ordinal] = shape;
    this.shapeUses[shape]++;
    this.statuses[ordinal] = numberOf(STATUS_CODES, span.status.code, span);
    let bytes = SPAN_BYTES + span.name.length + span.traceState.length + span.status.message.length;
    bytes += this.countProperties(storedProperties(span));
    for (const event of span.events) {
      this.strings.add(event.name);
      bytes += EVENT_BYTES + event.name.length + this.countProperties(storedProperties(event));
    }
    for (const link of span.links) {
      this.hasLinks = true;
      bytes += LINK_BYTES + link.traceState.length + this.countProperties(storedProperties(link));
    }
    if (bytes > MAX_SPAN_BYTES) {
      throw new LimitError(
        `span ${span.spanId} of trace ${span.traceId} takes ${bytes} bytes, more than the ${MAX_SPAN_BYTES} that a segment takes of one span`,
      );
    }
    this.bytes[ordinal] = bytes;
  }

  addHead({ name, resource }: ArchivedSpan): void {
    this.strings.add(name);
    this.strings.add(serviceOf(resource));
  }

  finish(): SpanFacts {
    const { hasLinks, statuses, bytes } = this;
    const resources = rankByUse(this.resourceUses);
    const scopes = rankByUse(this.scopeUses);
    const shapes = rankByUse(this.shapeUses);
    const allResources = resources.order.map((number) => this.resourceList.things[number]);
    const allShapes = shapes.order.map((number) => this.shapeList[number]);
    for (const { name } of allShapes) this.strings.add(name);
    const tables = new SpanTables(
      this.strings.table(),
      allResources.slice(0, entriesThatFit(resources, this.resourceList.bytes)),
      scopes.order
        .slice(0, entriesThatFit(scopes, this.scopeList.bytes))
        .map((number) => this.scopeList.things[number]),
      allShapes.slice(0, Math.min(MAX_ENTRIES, this.shapeUses.filter((uses) => uses > 1).length)),
    );
    renumber(this.resources, resources);
    renumber(this.shapes, shapes);
    return {
      tables,
      resources: this.resources,
      shapes: this.shapes,
      allResources,
      allShapes,
      statuses,
      bytes,
      areAllInTables: allResources.length === tables.resources.length && allShapes.length === tables.shapes.length,
      hasLinks,
    };
  }

  /** Shapes of a name are few: a list of numbers, kinds and scopes compared one by one. */
  private shapeOf(span: ArchivedSpan): number {
    const { name, kind } = span;
    const scopeNumber = this.scopeList.numberOf(span.scope);
    this.scopeUses[scopeNumber] = (this.scopeUses[scopeNumber] ?? 0) + 1;
    const scope = this.scopeList.things[scopeNumber];
    let numbers = this.shapeNumbers.get(name);
    if (numbers === undefined) {
      numbers = [];
      this.shapeNumbers.set(name, numbers);
    }
    for (const number of numbers) {
      const shape = this.shapeList[number];
      if (shape.kind === kind && shape.scope === scope) return number;
    }
    numberOf(KINDS, kind, span);
    numbers.push(this.shapeList.length);
    this.shapeUses.push(0);
    return this.shapeList.push({ name, kind, scope }) - 1;
  }

  private countProperties(properties: ArchivedProperties): number {
    let bytes = 0;
    for (const key of Object.keys(properties)) {
      this.strings.add(key);
      bytes += PROPERTY_BYTES + key.length + decodedBytes(properties[key]);
    }
    return bytes;
  }
}

const renumber = (numbers: Uint32Array, { ranks }: Ranking): void => {
  for (let i = 0; i < numbers.length; i++) numbers[i] = ranks[numbers[i]];
};

/** How many of the most used ones a table may have. */
const entriesThatFit = ({ order }: Ranking, bytes: readonly number[]): number => {
  let total = 0;
  let count = 0;
  for (const number of order) {
    total += bytes[number];
    if (count === MAX_ENTRIES || total > MAX_ENTRY_BYTES) break;
    count++;
  }
  return count;
};

const numberOf = (names: readonly string[], name: string, { spanId, traceId }: ArchivedSpan): number => {
  const number = names.indexOf(name);
  if (number >= 0) return number;
  throw new BadValueError(
    `span ${spanId} of trace ${traceId} has ${JSON.stringify(name)} where one of ${names.join(', ')} belongs`,
  );
};
