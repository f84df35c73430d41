// What the tables of a segment are made from: shapes, resources, scopes and texts by number, dealt by how often each is used, and what each
// span takes.
import type { ArchivedProperties, ArchivedSpan } from 'spanline/internal/record';
import type { SpanRows } from '../rows/span-rows.js';
import { storedProperties } from '../stored-extras.js';
import { KINDS } from '../values/fields.js';
import { MAX_ENTRIES, MAX_ENTRY_BYTES, type Shape, SpanTables, StringCounts } from './span-tables.js';
import type { SpanOrder } from './trace-order.js';

/** Numbers things in the order in which they are met, and counts how often. */
class FirstMet {
  /** What has each number. */
  readonly things: number[] = [];
  readonly uses: number[] = [];
  readonly #numbers = new Map<number, number>();
  #lastThing = -1;
  #lastNumber = -1;

  use(thing: number): number {
    if (thing !== this.#lastThing) {
      this.#lastThing = thing;
      this.#lastNumber = this.#numbers.get(thing) ?? this.#add(thing);
    }
    this.uses[this.#lastNumber]++;
    return this.#lastNumber;
  }

  #add(thing: number): number {
    this.#numbers.set(thing, this.things.length);
    this.uses.push(0);
    return this.things.push(thing) - 1;
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
export const gatherFacts = (input: SpanRows, { rows, spanCount }: SpanOrder, heads: Uint32Array): SpanFacts => {
  const strings = new StringCounts();
  const resourcesMet = new FirstMet();
  const scopesMet = new FirstMet();
  const shapesMet = new FirstMet();
  const resources = new Uint32Array(spanCount);
  const shapes = new Uint32Array(spanCount);
  const statuses = new Uint8Array(spanCount);
  const bytes = new Uint32Array(spanCount);
  const keyUses = new Uint32Array(input.texts.length);
  const scopeCount = input.scopes.things.length;
  for (let ordinal = 0; ordinal < spanCount; ordinal++) {
    const row = rows[ordinal];
    resources[ordinal] = resourcesMet.use(input.resource[row]);
    scopesMet.use(input.scope[row]);
    shapes[ordinal] = shapesMet.use((input.name[row] * KINDS.length + input.kind[row]) * scopeCount + input.scope[row]);
    statuses[ordinal] = input.status[row];
    bytes[ordinal] = input.bytes[row];
    for (let i = input.firstProperty[row]; i < input.firstProperty[row + 1]; i++) keyUses[input.keys[i]]++;
    for (const event of input.events(row)) {
      strings.add(event.name);
      countKeys(strings, storedProperties(event));
    }
    for (const link of input.links(row)) countKeys(strings, storedProperties(link));
  }
  keyUses.forEach((uses, number) => {
    if (uses > 0) strings.add(input.texts[number], uses);
  });
  for (const ordinal of heads) {
    strings.add(input.nameOf(rows[ordinal]));
    strings.add(input.serviceOf(rows[ordinal]));
  }
  const resourceRanks = rankByUse(resourcesMet.uses);
  const scopeRanks = rankByUse(scopesMet.uses);
  const shapeRanks = rankByUse(shapesMet.uses);
  const resourceOrder = resourceRanks.order.map((number) => resourcesMet.things[number]);
  const scopeOrder = scopeRanks.order.map((number) => scopesMet.things[number]);
  const allResources = resourceOrder.map((number) => input.resources.things[number]);
  const allShapes = shapeRanks.order.map((number): Shape => {
    const code = shapesMet.things[number];
    const nameAndKind = Math.floor(code / scopeCount);
    return {
      name: input.texts[Math.floor(nameAndKind / KINDS.length)],
      kind: KINDS[nameAndKind % KINDS.length],
      scope: input.scopes.things[code % scopeCount],
    };
  });
  for (const { name } of allShapes) strings.add(name);
  const tables = new SpanTables(
    strings.table(),
    allResources.slice(0, entriesThatFit(resourceOrder, input.resources.bytes)),
    scopeOrder.slice(0, entriesThatFit(scopeOrder, input.scopes.bytes)).map((number) => input.scopes.things[number]),
    allShapes.slice(0, Math.min(MAX_ENTRIES, shapesMet.uses.filter((uses) => uses > 1).length)),
  );
  renumber(resources, resourceRanks);
  renumber(shapes, shapeRanks);
  return {
    tables,
    resources,
    shapes,
    allResources,
    allShapes,
    statuses,
    bytes,
    areAllInTables: allResources.length === tables.resources.length && allShapes.length === tables.shapes.length,
    hasLinks: input.hasLinks && rows.some((row) => input.links(row).length > 0),
  };
};

const countKeys = (strings: StringCounts, properties: ArchivedProperties): void => {
  for (const key of Object.keys(properties)) strings.add(key);
};

const renumber = (numbers: Uint32Array, { ranks }: Ranking): void => {
  for (let i = 0; i < numbers.length; i++) numbers[i] = ranks[numbers[i]];
};

/** How many of the most used ones a table may have; `bytes` of each by its number. */
const entriesThatFit = (order: readonly number[], bytes: readonly number[]): number => {
  let total = 0;
  let count = 0;
  for (const number of order) {
    total += bytes[number];
    if (count === MAX_ENTRIES || total > MAX_ENTRY_BYTES) break;
    count++;
  }
  return count;
};
