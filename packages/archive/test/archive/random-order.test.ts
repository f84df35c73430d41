// Sources that are asked many at a time answer as they do one after the other, in whatever order their reads end.
import { isDeepStrictEqual } from 'node:util';
import type { BlockCache } from '@spanline/graph';
import { expect, test } from 'vitest';
import { samples } from '../../../../test/support/samples.js';
import { Archive } from '../../src/archive.js';
import { resolveOptions } from '../../src/archive-options.js';
import { tracesFrom } from '../../src/ask-sources.js';
import { BufferedSpans } from '../../src/buffered-spans.js';
import { searchSources } from '../../src/search-sources.js';
import type { Segment } from '../../src/segment/segment.js';
import { DirectoryPlace } from '../../src/segment-place.js';
import { SegmentSet } from '../../src/segment-set.js';
import { OtherWriters, Snapshots } from '../../src/snapshots.js';
import type { TraceSearch } from '../../src/trace-search.js';
import { bruteForce, withoutBytes } from '../segment/support/brute-force.js';
import { byId, collect, tracesOf } from '../segment/support/segments.js';
import { seededRandom, syntheticSpans } from '../segment/support/synthetic-spans.js';
import { newDirectory } from './support/directory.js';

/** What waits for a turn, and gets it in an order that is left to chance. */
class Turns {
  readonly #waiting: (() => void)[] = [];

  constructor(private readonly random: () => number) {}

  take(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      setImmediate(() => this.#waiting.splice(Math.floor(this.random() * this.#waiting.length), 1)[0]());
    });
  }
}

const METHODS = ['traces', 'present', 'summaries'] as const;

/** Opens segments, and answers of them, in an order that is left to chance. */
class ShuffledPlace extends DirectoryPlace {
  override readonly parallel = 7;

  constructor(
    directory: string,
    private readonly turns: Turns,
  ) {
    super(directory);
  }

  override async open(name: string, cache: BlockCache): Promise<Segment> {
    const segment = await super.open(name, cache);
    for (const method of METHODS) {
      const ask = segment[method].bind(segment) as (...given: unknown[]) => Promise<unknown>;
      const late = async (...given: unknown[]): Promise<unknown> => {
        const answer = await ask(...given);
        await this.turns.take();
        return answer;
      };
      Object.defineProperty(segment, method, { value: late });
    }
    await this.turns.take();
    return segment;
  }
}

test('any order of answers gives the same ones', async () => {
  for (let seed = 1; seed <= samples(2, 6, 60); seed++) {
    const random = seededRandom(seed);
    const directory = newDirectory();
    const archive = await Archive.open(directory, { maintain: false, unsortedSpans: 60 });
    // Every other time all traces have the same mark: rows of one are taken for rows of any other of their group.
    const endOfId = (traceId: string): string => (seed % 2 === 0 ? 'abcdef' : traceId.slice(26));
    const spans = syntheticSpans({ traces: 60, spansPerTrace: 6, seed: 100 + seed }).map((span) => ({
      ...span,
      traceId: span.traceId.slice(0, 26) + endOfId(span.traceId),
      links: [],
      properties: { region: random() < 0.5 ? 'eu' : 'us' },
    }));
    const shuffled = spans.map((span) => [random(), span] as const).sort(([a], [b]) => a - b);
    for (const [i, [, span]] of shuffled.entries()) {
      archive.append([span]);
      if (i % 20 === 19) await archive.seal();
    }
    await archive.close();
    const set = new SegmentSet(new ShuffledPlace(directory, new Turns(random)), 5, 1_000_000);
    const buffered = new BufferedSpans(directory, resolveOptions({}));
    const snapshots = new Snapshots(set, buffered, new OtherWriters(directory));
    const [some] = shuffled[0].slice(1) as (typeof spans)[number][];
    const searches: TraceSearch[] = [
      {},
      { limit: 3 },
      { service: 'cart', limit: 5 },
      { minDurationNs: 25_000_000n, limit: 4 },
      { maxDurationNs: 12_000_000n, properties: { region: 'eu' }, limit: 5 },
      { fromUnixNs: some.startUnixNs, limit: 6 },
      { toUnixNs: some.startUnixNs, minDurationNs: 10_000_000n, properties: { region: 'us' }, limit: 6 },
    ];
    for (const search of searches) {
      const { limit = 20 } = search;
      const found = await snapshots.run({}, (sources, ask) => searchSources(sources, { ...search, limit }, ask));
      expect(withoutBytes(found)).toEqual(bruteForce(spans, search));
    }
    const expected = tracesOf(spans);
    const ids = [...expected.keys()];
    const traces = await snapshots.run({}, (sources, ask) => tracesFrom(sources, ids, ask));
    expect([...traces.keys()]).toEqual(ids);
    for (const [id, trace] of expected) expect(isDeepStrictEqual(byId(traces.get(id) ?? []), byId(trace))).toBe(true);
    const scanned = (await collect(snapshots.scan({}))).flat();
    expect(isDeepStrictEqual(byId(scanned), byId(spans))).toBe(true);
    await set.close();
  }
});

test('a search that has read too much says what it left out', async () => {
  const directory = newDirectory();
  const archive = await Archive.open(directory, { maintain: false });
  const spans = syntheticSpans({ traces: 40, spansPerTrace: 4, seed: 3 });
  for (let i = 0; i < spans.length; i += 40) {
    archive.append(spans.slice(i, i + 40));
    await archive.seal();
  }
  await archive.close();
  const set = new SegmentSet(new ShuffledPlace(directory, new Turns(seededRandom(1))), 5, 1_000_000);
  const buffered = new BufferedSpans(directory, resolveOptions({}));
  const snapshots = new Snapshots(set, buffered, new OtherWriters(directory));
  let asked = 0;
  let leftOut: bigint | undefined;
  const found = await snapshots.run({}, (sources, ask) =>
    searchSources(
      sources,
      { limit: 100 },
      {
        ...ask,
        parallel: 2,
        isOver: () => ++asked > 2,
        onOver: (latest) => {
          leftOut = latest;
        },
      },
    ),
  );
  expect(found.length).toBeGreaterThan(0);
  expect(found.length).toBeLessThan(40);
  const ends = (await set.list()).segments.map(({ endMs }) => BigInt(endMs) * 1_000_000n);
  expect(leftOut).toBe(ends[2]);
  await set.close();
});

test('of a span that is in several sources the newest one counts, whichever answers first', async () => {
  const [span] = syntheticSpans({ traces: 1, spansPerTrace: 1, seed: 1 });
  const named = ['first', 'second', 'third'].map((name) => ({ ...span, name }));
  const answers: (() => void)[] = [];
  const sources = [...named].reverse().map((one) => ({
    possible: async () => [span.traceId],
    present: async () => [span.traceId],
    traces: () =>
      new Promise<Map<string, (typeof one)[]>>((resolve) => {
        answers.push(() => resolve(new Map([[span.traceId, [one]]])));
        if (answers.length === named.length) for (const answer of answers.reverse()) answer();
      }),
  }));
  const found = await tracesFrom(sources, [span.traceId], { parallel: 3 });
  expect(found.get(span.traceId)?.map(({ name }) => name)).toEqual(['third']);
});
