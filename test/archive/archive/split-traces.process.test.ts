// What a search finds does not depend on which files the spans of a trace lie in: it asks about whole traces, and is held to a look at all
// spans. Traces lie in several segments, in the write-ahead files of several writers, and in both.
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Archive } from '../../../src/archive/archive.js';
import { Segment } from '../../../src/archive/segment/segment.js';
import type { ArchivedSpan, TraceSearch } from '../../../src/trace/archived-span.js';
import { rounds } from '../../support/rounds.js';
import { bruteForce, serviceOf, withoutBytes } from '../segment/support/brute-force.js';
import { byId, collect, span, spanIdOf, traceIdOf, tracesOf } from '../segment/support/segments.js';
import { seededRandom } from '../segment/support/synthetic-spans.js';
import { filesOf, newDirectory, openArchive, SEGMENT, WAL } from './support/directory.js';

const START = 1_760_000_000_000_000_000n;
const MS = 1_000_000n;
const SERVICES = ['auth', 'cart', 'shop'];
const NAMES = ['GET /', 'query', 'render'];
const STATUSES = ['unset', 'ok', 'error'] as const;

/** Draws whole numbers below a bound, and one of several things. */
const drawing = (seed: number) => {
  const random = seededRandom(seed);
  const below = (bound: number): number => Math.floor(random() * bound);
  return {
    below,
    oneOf: <T>(things: readonly T[]): T => things[below(things.length)],
    chance: (p: number) => random() < p,
  };
};
type Draw = ReturnType<typeof drawing>;

/** Traces with one root, several, or none; some of their spans lie far apart. */
const drawTraces = ({ below, oneOf, chance }: Draw): ArchivedSpan[] =>
  Array.from({ length: 25 }, (_, t) => {
    // No two traces begin at one time.
    const begin = START + BigInt(below(1000)) * MS + BigInt(t);
    return Array.from({ length: 1 + below(6) }, (_, s) => {
      const startUnixNs = begin + BigInt(below(chance(0.2) ? 1000 : 50)) * MS;
      return span({
        traceId: traceIdOf(t + 1),
        spanId: spanIdOf(t * 16 + s + 1),
        parentSpanId: s === 0 || chance(0.15) ? (chance(0.9) ? '' : spanIdOf(9999)) : spanIdOf(t * 16 + below(s) + 1),
        name: oneOf(NAMES),
        startUnixNs,
        endUnixNs: startUnixNs + BigInt(below(30)) * MS,
        status: { code: oneOf(STATUSES), message: '' },
        properties: { region: oneOf(['eu', 'us']) },
        resource: { properties: { 'service.name': oneOf(SERVICES) } },
      });
    });
  }).flat();

const drawSearch = ({ below, oneOf, chance }: Draw): TraceSearch => {
  const time = (): bigint => START + BigInt(below(1400) - 100) * MS;
  const length = (): bigint => BigInt(below(chance(0.5) ? 60 : 1000)) * MS;
  return {
    ...(chance(0.4) && { fromUnixNs: time() }),
    ...(chance(0.4) && { toUnixNs: time() }),
    ...(chance(0.4) && { minDurationNs: length() }),
    ...(chance(0.25) && { maxDurationNs: length() }),
    ...(chance(0.4) && { service: oneOf(SERVICES) }),
    ...(chance(0.25) && { name: oneOf(NAMES) }),
    ...(chance(0.25) && { status: oneOf(STATUSES) }),
    ...(chance(0.25) && { properties: { region: oneOf(['eu', 'us']) } }),
    ...(chance(0.7) && { limit: oneOf([1, 2, 3, 7, 1000]) }),
  };
};

const shuffled = <T>(things: readonly T[], { below }: Draw): T[] =>
  things
    .map((thing) => [below(2 ** 31), thing] as const)
    .sort(([a], [b]) => a - b)
    .map(([, thing]) => thing);

const opened: Archive[] = [];
afterEach(async () => {
  for (const archive of opened.splice(0)) await archive.close();
});

const SEEDS = rounds(14);

/** Where the parts of traces lie. */
const LAYOUTS = ['segments', 'write-ahead files', 'both'] as const;

/** Archives on one directory, which hold `spans` in parts; some spans come twice. */
const spread = async (
  spans: readonly ArchivedSpan[],
  layout: (typeof LAYOUTS)[number],
  draw: Draw,
): Promise<Archive[]> => {
  const directory = newDirectory();
  const writers = [await Archive.open(directory), await Archive.open(directory), await Archive.open(directory)];
  opened.push(...writers);
  const parts = 3 + draw.below(3);
  const all = shuffled([...spans, ...spans.filter(() => draw.chance(0.1))], draw);
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

describe.each(LAYOUTS)('traces in several %s', (layout) => {
  test(`${SEEDS * 100} searches`, { timeout: 120_000 }, async () => {
    let withAnswer = 0;
    for (let seed = 0; seed < SEEDS; seed++) {
      const draw = drawing(1000 + seed);
      const spans = drawTraces(draw);
      const archives = await spread(spans, layout, draw);
      for (let i = 0; i < 100; i++) {
        const search = drawSearch(draw);
        const expected = bruteForce(spans, search);
        if (expected.length > 0) withAnswer++;
        expect(withoutBytes(await archives[i % 2].search(search)), JSON.stringify(search, readable)).toEqual(expected);
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
    }
    expect(withAnswer).toBeGreaterThan(SEEDS * 50);
  });

  test('pages by time hold each trace once, and all of them', async () => {
    const draw = drawing(7);
    const spans = drawTraces(draw);
    const [archive] = await spread(spans, layout, draw);
    for (const limit of [1, 4, 9]) {
      const seen = new Set<string>();
      for (let toUnixNs: bigint | undefined; ; ) {
        const page = await archive.search({ limit, ...(toUnixNs === undefined ? {} : { toUnixNs }) });
        const fresh = page.filter(({ traceId }) => !seen.has(traceId));
        for (const { traceId } of fresh) seen.add(traceId);
        if (fresh.length === 0) break;
        toUnixNs = page[page.length - 1].startUnixNs - (limit === 1 ? 1n : 0n);
      }
      expect(seen.size).toBe(tracesOf(spans).size);
    }
  });
});

const readable = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

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
