// What a search finds does not depend on which files the spans of a trace lie in: it asks about whole traces, and is held to a look at all
// spans. Traces lie in several segments, in the write-ahead files of several writers, and in both.
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { Archive } from '../../src/archive.js';
import { Segment } from '../../src/segment/segment.js';
import type { TraceSearch } from '../../src/trace-search.js';
import { bruteForce, serviceOf, withoutBytes } from '../segment/support/brute-force.js';
import { byId, collect, span, spanIdOf, traceIdOf, tracesOf } from '../segment/support/segments.js';
import { filesOf, newDirectory, openArchive, SEGMENT, WAL } from './support/directory.js';

const START = 1_760_000_000_000_000_000n;
const MS = 1_000_000n;
const SERVICES = ['auth', 'cart', 'shop'];
const NAMES = ['GET /', 'query', 'render'];
const STATUSES = ['unset', 'ok', 'error'] as const;

/** A span of a trace: when it starts behind the trace, how long it takes, and where it goes: parts are dealt in the order of `turn`. */
const drawnSpan = fc.record({
  afterMs: fc.oneof({ weight: 4, arbitrary: fc.nat(50) }, fc.nat(1000)),
  ms: fc.nat(30),
  /** The parent: an earlier span, none, or one that is not there. */
  parent: fc.oneof(
    { weight: 6, arbitrary: fc.nat(5) },
    fc.constantFrom('none' as const),
    fc.constantFrom('absent' as const),
  ),
  name: fc.constantFrom(...NAMES),
  status: fc.constantFrom(...STATUSES),
  region: fc.constantFrom('eu', 'us'),
  service: fc.constantFrom(...SERVICES),
  turn: fc.nat(1000),
  isTwice: fc.boolean(),
});
const drawnTrace = fc.record({
  beginMs: fc.nat(1000),
  spans: fc.array(drawnSpan, { minLength: 1, maxLength: 6 }),
});
type DrawnTrace = typeof drawnTrace extends fc.Arbitrary<infer T> ? T : never;
const drawnTraces = fc.array(drawnTrace, { minLength: 6, maxLength: 25, size: 'max' });

interface Placed {
  readonly one: ArchivedSpan;
  readonly turn: number;
  readonly isTwice: boolean;
}

/** Traces with one root, several, or none; some of their spans lie far apart. */
const placedSpans = (drawn: readonly DrawnTrace[]): Placed[] =>
  drawn.flatMap(({ beginMs, spans }, t) =>
    spans.map(({ afterMs, ms, parent, name, status, region, service, turn, isTwice }, s) => {
      // No two traces begin at one time.
      const startUnixNs = START + BigInt(beginMs + afterMs) * MS + BigInt(t);
      const parentSpanId =
        parent === 'absent' ? spanIdOf(9999) : parent === 'none' || s === 0 ? '' : spanIdOf(t * 16 + (parent % s) + 1);
      return {
        one: span({
          ...{ traceId: traceIdOf(t + 1), spanId: spanIdOf(t * 16 + s + 1), parentSpanId, name, startUnixNs },
          endUnixNs: startUnixNs + BigInt(ms) * MS,
          status: { code: status, message: '' },
          properties: { region },
          resource: { properties: { 'service.name': service } },
        }),
        turn,
        isTwice,
      };
    }),
  );

const time = fc.integer({ min: -100, max: 1300 }).map((ms) => START + BigInt(ms) * MS);
const length = fc.oneof(fc.nat(60), fc.nat(1000)).map((ms) => BigInt(ms) * MS);
const search = fc.record<TraceSearch>(
  {
    fromUnixNs: time,
    toUnixNs: time,
    minDurationNs: length,
    maxDurationNs: length,
    service: fc.constantFrom(...SERVICES),
    name: fc.constantFrom(...NAMES),
    status: fc.constantFrom(...STATUSES),
    properties: fc.constantFrom({ region: 'eu' }, { region: 'us' }),
    limit: fc.constantFrom(1, 2, 3, 7, 1000),
  },
  { requiredKeys: [], noNullPrototype: true },
);
/** Of nine conditions a search has three or so, that most find something. */
const someSearch = fc
  .tuple(search, fc.subarray(['fromUnixNs', 'minDurationNs', 'maxDurationNs', 'name', 'status', 'properties'] as const))
  .map(
    ([all, left]): TraceSearch =>
      Object.fromEntries(Object.entries(all).filter(([key]) => !left.includes(key as 'name'))),
  );

const opened: Archive[] = [];
const closeAll = async (): Promise<void> => {
  for (const archive of opened.splice(0)) await archive.close();
};
afterEach(closeAll);

/** Where the parts of traces lie. */
const LAYOUTS = ['segments', 'write-ahead files', 'both'] as const;

/** Archives on one directory, which hold `placed` in parts; some spans come twice. */
const spread = async (
  placed: readonly Placed[],
  layout: (typeof LAYOUTS)[number],
  parts: number,
): Promise<Archive[]> => {
  const directory = newDirectory();
  const writers = [await Archive.open(directory), await Archive.open(directory), await Archive.open(directory)];
  opened.push(...writers);
  const inTurn = placed.toSorted((a, b) => a.turn - b.turn).map(({ one }) => one);
  const all = [...inTurn, ...placed.filter(({ isTwice }) => isTwice).map(({ one }) => one)];
  for (let part = 0; part < parts; part++) {
    const own = all.filter((_, i) => i % parts === part);
    const writer = writers[part % writers.length];
    writer.append(own);
    if (layout === 'segments' || (layout === 'both' && part % 2 === 0)) await writer.seal();
  }
  const reader = await Archive.open(directory, { readOnly: true });
  opened.push(reader);
  expect(filesOf(directory, SEGMENT).length > 1).toBe(layout !== 'write-ahead files');
  expect(filesOf(directory, WAL).length > 0).toBe(layout !== 'segments');
  return [writers[0], reader];
};

const parts = fc.integer({ min: 3, max: 5 });

describe.each(LAYOUTS)('traces in several %s', (layout) => {
  test('any searches', { timeout: 600_000 }, async () => {
    let asked = 0;
    let withAnswer = 0;
    const searches = fc.array(someSearch, { minLength: 1, maxLength: 40, size: 'max' });
    await fc.assert(
      fc.asyncProperty(drawnTraces, parts, searches, async (drawn, count, some) => {
        const placed = placedSpans(drawn);
        const spans = placed.map(({ one }) => one);
        const archives = await spread(placed, layout, count);
        for (const [i, search] of some.entries()) {
          const expected = bruteForce(spans, search);
          asked++;
          if (expected.length > 0) withAnswer++;
          expect(withoutBytes(await archives[i % 2].search(search))).toEqual(expected);
        }
        for (const archive of archives) {
          expect(await archive.services()).toEqual([...new Set(spans.map(serviceOf))].sort());
          for (const service of SERVICES) {
            const names = spans.filter((one) => serviceOf(one) === service).map(({ name }) => name);
            expect((await archive.operations(service)).map(({ name }) => name)).toEqual([...new Set(names)].sort());
          }
          const whole = await collect(archive.scan());
          expect(whole.map((trace) => trace[0].traceId).sort()).toEqual([...tracesOf(spans).keys()].sort());
          expect(byId(whole.flat())).toEqual(byId(spans));
          for (const trace of whole) expect(new Set(trace.map(({ traceId }) => traceId)).size).toBe(1);
        }
        await closeAll();
      }),
      { numRuns: samples(2, 4, 300) },
    );
    // Else nothing was compared.
    expect(withAnswer / asked).toBeGreaterThan(0.2);
  });

  test('pages by time hold each trace once, and all of them', async () => {
    const [drawn] = fc.sample(fc.array(drawnTrace, { minLength: 25, maxLength: 25 }), { numRuns: 1, seed: 7 });
    const placed = placedSpans(drawn);
    const [archive] = await spread(placed, layout, 4);
    for (const limit of [1, 4, 9]) {
      const seen = new Set<string>();
      for (let toUnixNs: bigint | undefined; ; ) {
        const page = await archive.search({ limit, ...(toUnixNs === undefined ? {} : { toUnixNs }) });
        const fresh = page.filter(({ traceId }) => !seen.has(traceId));
        for (const { traceId } of fresh) seen.add(traceId);
        if (fresh.length === 0) break;
        toUnixNs = page[page.length - 1].startUnixNs - (limit === 1 ? 1n : 0n);
      }
      expect(seen.size).toBe(25);
    }
  });
});

test('a trace whose parts lie before and after the time searched is one that goes on during it', async () => {
  const archive = await openArchive(newDirectory());
  const at = (ms: number, changes: Partial<ArchivedSpan>): ArchivedSpan =>
    span({ startUnixNs: START + BigInt(ms) * MS, endUnixNs: START + BigInt(ms + 1) * MS, ...changes });
  archive.append([at(0, { spanId: spanIdOf(1) })]);
  await archive.seal();
  archive.append([at(100, { spanId: spanIdOf(2) })]);
  await archive.seal();
  const during: TraceSearch = { fromUnixNs: START + 40n * MS, toUnixNs: START + 60n * MS };
  expect(await archive.search(during)).toHaveLength(1);
  expect(await archive.search({ minDurationNs: 101n * MS })).toHaveLength(1);
  expect(await archive.search({ minDurationNs: 101n * MS + 1n })).toHaveLength(0);
  expect(await archive.search({ ...during, service: 'nobody' })).toHaveLength(0);
  await archive.compact();
  expect(await archive.search(during)).toHaveLength(1);
});

test('a search that whole traces fill lists the traces of no older file', async () => {
  const archive = await openArchive(newDirectory());
  for (let file = 0; file < 5; file++) {
    archive.append(
      Array.from({ length: 30 }, (_, n) => {
        const startUnixNs = START + BigInt(file * 1000 + n) * MS;
        return span({ traceId: traceIdOf(file * 100 + n + 1), startUnixNs, endUnixNs: startUnixNs + 10n * MS });
      }),
    );
    await archive.seal();
  }
  const listed = vi.spyOn(Segment.prototype, 'traceIds');
  onTestFinished(() => listed.mockRestore());
  const filesListed = async (search: TraceSearch): Promise<number> => {
    listed.mockClear();
    await archive.search(search);
    return listed.mock.calls.length;
  };
  const now = START + 5000n * MS;
  expect(await filesListed({ limit: 20 })).toBe(0);
  expect(await filesListed({ limit: 20, service: 'shop', fromUnixNs: START })).toBe(1);
  expect(await filesListed({ limit: 20, minDurationNs: MS, toUnixNs: now })).toBe(1);
  expect(await filesListed({ limit: 20, fromUnixNs: START + 1000n * MS, toUnixNs: START + 1500n * MS })).toBe(1);
  // Not filled: but only those that are over late enough.
  expect(await filesListed({ limit: 100, fromUnixNs: now - 1500n * MS, toUnixNs: now })).toBe(1);
  expect(await filesListed({ limit: 100, fromUnixNs: START, service: 'nobody' })).toBe(0);
});
