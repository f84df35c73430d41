// The store of rows against plain objects: whatever is added, dropped and taken, each row comes back once, under its trace, as it was
// written, and the chunks in use stay within what waits.
import { describe, expect, test } from 'vitest';
import { nameText, type PropertyList } from '../../src/rows/property.js';
import { ROW_BYTES, RowChunk } from '../../src/rows/row-chunk.js';
import { RowStore, TakenRows } from '../../src/rows/row-store.js';
import { internedName, internName } from '../../src/rows/row-text.js';
import { TraceWord } from '../../src/rows/trace-table.js';
import fc from '../support/fast-check.js';
import { useOwnNames } from '../support/names.js';
import { propertyList as propertyListOf } from '../support/row-properties.js';
import { samples } from '../support/samples.js';

useOwnNames();

const SPARE_CHUNKS = 8;

interface Written {
  readonly id: number;
  readonly name: string;
  readonly propertyList: PropertyList | null;
}

const KEY = { w0: 1, w1: 2, w2: 3, w3: 4, traceState: '', isRandom: false };

/** A trace, and what it is to have in the store. */
class Owner {
  number: number;
  written: Written[] = [];

  constructor(readonly store: RowStore) {
    this.number = store.traces.acquire(KEY, undefined, 0);
  }
}

let nextId = 1;

const add = (owner: Owner, name: string, propertyList: PropertyList | null, flags = 0): void => {
  const id = nextId++;
  const { store } = owner;
  const chunk = store.chunk();
  const number = internName(name);
  const span = { name, idHi: 7, idLo: id, begin: id / 2, propertyList, details: null };
  chunk.entries.writeDetails(span, number === 0 ? nameText(name) : null, null);
  chunk.add(span, 3, -id, owner.number, number, flags, id + 0.25);
  store.traces.grow(owner.number, 1, ROW_BYTES);
  owner.written.push({ id, name, propertyList });
};

const read = (rows: TakenRows, i: number): Written[] => {
  const [first, count] = [rows.firstOf(i), rows.countOf(i)];
  return Array.from({ length: count }, (_, at) => {
    const [chunk, row] = [rows.chunkOf(first + at), rows.rowOf(first + at)];
    const [head, end, number] = [chunk.heads[row], chunk.heads[row + 1], chunk.names[row]];
    const id = chunk.idLos[row];
    expect([chunk.idHis[row], chunk.parentHis[row], chunk.parentLos[row]]).toEqual([7, 3, -id]);
    expect([chunk.begins[row], chunk.ends[row]]).toEqual([id / 2, id + 0.25]);
    const name = number > 0 ? internedName(number) : chunk.entries.textAt(head);
    return { id, name, propertyList: propertyListOf(chunk.entries, number > 0 ? head : head + 1, end) };
  });
};

const byId = (a: Written, b: Written): number => a.id - b.id;

const takeAndCheck = (store: RowStore, owners: readonly Owner[]): TakenRows => {
  const rows = store.take(Int32Array.from(owners, ({ number }) => number));
  owners.forEach((owner, i) => {
    expect(read(rows, i).sort(byId)).toEqual(owner.written);
    store.traces.emptied(owner.number);
    owner.written = [];
  });
  return rows;
};

const drop = (owner: Owner): void => {
  const { store } = owner;
  store.drop(owner.number, false);
  owner.number = store.traces.acquire(KEY, undefined, 0);
  owner.written = [];
};

const boundOf = (waiting: number, capacity: number): number => Math.ceil((2 * waiting) / capacity) + SPARE_CHUNKS + 2;

const OWNERS = 6;
const properties = fc.option(
  fc.uniqueArray(fc.tuple(fc.string(), fc.oneof(fc.string({ unit: 'binary' }), fc.double(), fc.boolean())), {
    maxLength: 4,
    selector: ([key]) => key,
  }),
);
const who = fc.nat(OWNERS - 1);
const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ kind: fc.constant('add'), who, properties, times: fc.integer({ min: 1, max: 20 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('drop'), who }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('take'), some: fc.uniqueArray(who) }) },
) as fc.Arbitrary<
  | { readonly kind: 'add'; who: number; properties: [string, string | number | boolean][] | null; times: number }
  | { readonly kind: 'drop'; who: number }
  | { readonly kind: 'take'; some: number[] }
>;

test('each row comes back once, under its trace, as it was written; chunks in use stay within what waits', () => {
  const program = fc.record({ capacity: fc.integer({ min: 4, max: 16 }), steps: fc.array(step, { maxLength: 120 }) });
  fc.assert(
    fc.property(program, ({ capacity, steps }) => {
      const store = new RowStore(capacity);
      const owners = Array.from({ length: OWNERS }, () => new Owner(store));
      const given: { rows: TakenRows; was: Written[][] }[] = [];
      for (const one of steps) {
        if (one.kind === 'drop') drop(owners[one.who]);
        else if (one.kind === 'add') {
          const list = one.properties === null ? null : one.properties.flat();
          for (let i = 0; i < one.times; i++)
            add(owners[one.who], `name ${i}`.repeat(i * 3 + 1), list?.length ? list : null);
        } else {
          const some = one.some.map((i) => owners[i]);
          const was = some.map(({ written }) => written);
          given.push({ rows: takeAndCheck(store, some), was });
        }
        const waiting = owners.reduce((sum, { written }) => sum + written.length, 0);
        expect(store.size.chunks).toBeLessThanOrEqual(boundOf(waiting, capacity));
        expect(new Set(owners.map(({ number }) => number)).size).toBe(OWNERS);
      }
      takeAndCheck(store, owners);
      expect(store.size.chunks).toBeLessThanOrEqual(1);
      // What was given away did not change meanwhile.
      for (const { rows, was } of given) expect(was.map((_, i) => read(rows, i).sort(byId))).toEqual(was);
    }),
    { numRuns: samples(30, 160, 5000) },
  );
});

test('the root comes first, and with what is known only when it is taken', () => {
  const store = new RowStore(4);
  const [one, other] = [new Owner(store), new Owner(store)];
  for (let i = 0; i < 9; i++) {
    add(one, 'child', ['k', i]);
    add(other, 'child', null);
  }
  add(one, 'root', ['a', 'b'], 64);
  const root = nextId - 1;
  store.traces.set(one.number, TraceWord.refused, 9);
  const rows = store.take(Int32Array.of(other.number, one.number));
  expect(read(rows, 1)[0]).toEqual({ id: root, name: 'root', propertyList: ['a', 'b', 'spanline.dropped_spans', 9] });
  expect(read(rows, 0).length).toBe(9);
});

test('a root open for long with one row a chunk does not hold the chunks', () => {
  const store = new RowStore(16);
  const long = new Owner(store);
  for (let round = 0; round < 2000; round++) {
    const short = new Owner(store);
    add(long, 'child', ['round', round]);
    for (let i = 0; i < 15; i++) add(short, 'span', null);
    if (round % 2 === 0) drop(short);
    else takeAndCheck(store, [short]);
    expect(store.size.chunks).toBeLessThanOrEqual(boundOf(round + 1, 16));
  }
  expect(store.compacted).toBeGreaterThan(0);
  takeAndCheck(store, [long]);
});

test('what waits through many takes ends up in full chunks', () => {
  const store = new RowStore(16);
  const waiting = Array.from({ length: 40 }, () => new Owner(store));
  for (let round = 0; round < 300; round++) {
    const ready = new Owner(store);
    add(waiting[round % 40], 'waits', null);
    for (let i = 0; i < 3; i++) add(ready, 'ready', null);
    takeAndCheck(store, [ready]);
  }
  expect(store.size.chunks).toBeLessThanOrEqual(boundOf(300, 16));
  takeAndCheck(store, waiting);
});

test('rows with much text are not moved again and again while all of them wait', () => {
  const store = new RowStore();
  const owner = new Owner(store);
  const text = 'x'.repeat(200_000);
  for (let i = 0; i < 300; i++) add(owner, 'large', ['text', `${i}${text}`]);
  expect(store.compacted).toBe(0);
  expect(store.size.chunks).toBeGreaterThan(40);
  takeAndCheck(store, [owner]);
});

test('few rows of a dropped trace with much text do not stay beside many of another', () => {
  const store = new RowStore();
  const small = new Owner(store);
  const text = 'x'.repeat(1 << 18);
  for (let i = 0; i < 200; i++) {
    const large = new Owner(store);
    for (let n = 0; n < 20; n++) add(small, 'small', null);
    add(large, 'large', ['text', `${i}${text}`]);
    drop(large);
    // All texts are 50 MB; before they are looked through there may be nine chunks of two.
    expect(store.size.bytes).toBeLessThan(24 << 20);
  }
  takeAndCheck(store, [small]);
});

test('what was dropped is let go without anything new being written', () => {
  const store = new RowStore(16);
  const owner = new Owner(store);
  for (let i = 0; i < 10_000; i++) add(owner, 'span', null);
  drop(owner);
  expect(store.size.chunks).toBeLessThanOrEqual(SPARE_CHUNKS + 2);
});

test('a few rows that are taken do not hold a chunk, and the chunk is used again', () => {
  const store = new RowStore();
  let buffered = 0;
  for (let i = 0; i < 100; i++) {
    const owner = new Owner(store);
    add(owner, 'root', ['k', `v${i}`]);
    for (const chunk of takeAndCheck(store, [owner]).chunks) buffered += chunk.byteSize;
  }
  expect(buffered).toBeLessThan(100 * 1000);
  expect(store.size).toMatchObject({ chunks: 0, pooled: 1 });
});

/** Those of memory that a chunk has taken. */
const memoryOf = ({ begins, entries }: RowChunk): number =>
  begins.buffer.byteLength + entries.words.buffer.byteLength + entries.text.bytes.length;

test('the size has the chunk that is being written, and all memory of each', () => {
  const store = new RowStore(16);
  const owner = new Owner(store);
  add(owner, 'span', ['k', 'v']);
  const { chunks, bytes } = store.size;
  expect(chunks).toBe(1);
  const taken = takeAndCheck(store, [owner]);
  taken.release();
  const chunk = store.chunk();
  // But for the last head.
  expect(bytes).toBe(memoryOf(chunk) - 4);
});

test('a chunk that was handed over comes back with the last trace that is released, not before', () => {
  const store = new RowStore(16);
  const owners = [new Owner(store), new Owner(store)];
  for (let i = 0; i < 10; i++) add(owners[i % 2], 'span', null);
  const rows = takeAndCheck(store, owners);
  // More than half full, so it was handed over as it is.
  expect([rows.chunks.length, rows.chunks[0].capacity, store.size.pooled]).toEqual([1, 16, 0]);
  rows.release();
  expect([store.size.pooled, rows.countOf(1)]).toEqual([0, 5]);
  const [chunk] = rows.chunks;
  rows.release();
  expect([store.size.pooled, rows.chunks]).toEqual([1, []]);
  expect(store.chunk()).toBe(chunk);
});

test('rows that came from no store are released to nobody', () => {
  const store = new RowStore(4);
  const owner = new Owner(store);
  add(owner, 'span', null);
  const taken = takeAndCheck(store, [owner]);
  const own = new TakenRows(Int32Array.of(1));
  own.copy(0, taken.chunkOf(0), taken.rowOf(0));
  own.release();
  expect(own.chunks.length).toBe(1);
});

test('a row that was handed over gets more properties behind its own, and says what they take', () => {
  const store = new RowStore(8);
  const owner = new Owner(store);
  for (let i = 0; i < 8; i++) add(owner, `span ${i}`, ['k', `v${i}`]);
  const rows = takeAndCheck(store, [owner]);
  const before = read(rows, 0);
  // An entry of 16 bytes and five of text.
  expect(rows.extend(rows.firstOf(0) + 2, ['more', 'later'])).toBe(21);
  const wanted = before.map((one, i) => (i === 2 ? { ...one, propertyList: ['k', 'v2', 'more', 'later'] } : one));
  expect(read(rows, 0)).toEqual(wanted);
});

test('chunks that wait to be used again are bounded, in number and in bytes', () => {
  const few = new RowStore(4);
  for (let i = 0; i < 40; i++) few.give(new RowChunk(4));
  expect(few.size.pooled).toBe(16);
  // One of another size would have other room than the store counts on.
  const other = new RowStore(4);
  other.give(new RowChunk(8));
  expect(other.size.pooled).toBe(0);
  const large = new RowStore(4);
  for (let i = 0; i < 16; i++) {
    const chunk = new RowChunk(4);
    chunk.entries.writeMessage('x'.repeat(1 << 20));
    large.give(chunk);
  }
  // Each has a MiB and a little, and 8 MiB are allowed.
  expect(large.size.pooled).toBe(7);
  // Those that are used again make room for others.
  large.chunk();
  large.give(new RowChunk(4));
  expect(large.size.pooled).toBe(7);
});

test('few rows of a full chunk are taken alone, and so are those with most of its text from among many without', () => {
  const store = new RowStore(16);
  const [few, many] = [new Owner(store), new Owner(store)];
  for (let i = 0; i < 16; i++) add(i < 2 ? few : many, 'span', null);
  const rows = takeAndCheck(store, [few]);
  expect([rows.chunks.length, rows.chunks[0].capacity]).toEqual([1, 2]);
  expect([store.size.chunks, store.compacted]).toEqual([1, 0]);
  takeAndCheck(store, [many]);

  const large = new Owner(store);
  for (let i = 0; i < 16; i++) add(i < 4 ? large : many, 'span', i < 4 ? ['text', `${i}`.repeat(20_000)] : null);
  takeAndCheck(store, [large]);
  expect(store.compacted).toBe(1);
  expect(store.size.bytes).toBeLessThan(20_000);
  takeAndCheck(store, [many]);
});

test('what was left by a take and is dropped then is let go at once', () => {
  const store = new RowStore(2);
  const [owner, other] = [new Owner(store), new Owner(store)];
  for (let i = 0; i < 200; i++) add(owner, 'span', null);
  add(other, 'span', null);
  takeAndCheck(store, [other]);
  expect(store.size.chunks).toBe(100);
  drop(owner);
  expect(store.size.chunks).toBe(0);
});

test('rows that wait are not looked through at every chunk', () => {
  class Counting extends RowStore {
    takes = 0;
    override take(numbers: Int32Array): TakenRows {
      this.takes++;
      return super.take(numbers);
    }
  }
  const store = new Counting(2);
  const [owner, other] = [new Owner(store), new Owner(store)];
  for (let i = 0; i < 200; i++) add(owner, 'span', null);
  add(other, 'span', null);
  takeAndCheck(store, [other]);
  store.takes = 0;
  for (let i = 0; i < 40; i++) add(owner, 'span', null);
  expect(store.takes).toBe(0);
  takeAndCheck(store, [owner]);
});

describe('somebody who observes', () => {
  /** Notes the ids of the rows it is shown. */
  const observing = (store: RowStore, during: () => void = () => {}): number[] => {
    const ids: number[] = [];
    store.observeWith({
      journal: null,
      observe: (chunk, from) => {
        for (let row = from; row < chunk.count; row++) ids.push(chunk.idLos[row]);
        during();
      },
    });
    return ids;
  };
  const byNumber = (a: number, b: number): number => a - b;

  test('sees each row once, whether it waits, is moved, is taken or was dropped', () => {
    const store = new RowStore(4);
    const ids = observing(store);
    const [one, two, three] = [new Owner(store), new Owner(store), new Owner(store)];
    const first = nextId;
    const writeSome = (): void => {
      for (let i = 0; i < 30; i++) add([one, two, three][i % 3], 'span', null);
    };
    const written = (): number[] => Array.from({ length: nextId - first }, (_, i) => first + i);
    writeSome();
    store.observeAll();
    expect(ids).toEqual(written());
    writeSome();
    store.observeAll();
    expect(ids).toEqual(written());
    drop(two);
    takeAndCheck(store, [one]);
    writeSome();
    drop(three);
    takeAndCheck(store, [one]);
    store.observeAll();
    expect(ids.toSorted(byNumber)).toEqual(written());
  });

  test('is shown nothing in the middle of that', () => {
    const store = new RowStore(4);
    let depth = 0;
    let deepest = 0;
    const ids = observing(store, () => {
      depth++;
      deepest = Math.max(deepest, depth);
      // As a signal does that comes now.
      store.observeWhatIsStill();
      depth--;
    });
    const owner = new Owner(store);
    for (let i = 0; i < 20; i++) add(owner, 'span', null);
    takeAndCheck(store, [owner]);
    for (let i = 0; i < 20; i++) add(owner, 'span', null);
    store.observeWhatIsStill();
    expect([deepest, ids.length]).toEqual([1, 40]);
  });
});
