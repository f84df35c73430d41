// An archive answers as a plain map of spans would, whatever is appended, sealed, merged, flushed and opened again, by one writer or two.
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import type { ArchivedSpan, TraceSearch } from '../../../../src/record/archived-span.js';
import { traceTrees } from '../../../../src/record/tree.js';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { Archive } from '../../src/archive.js';
import { anyTakenSpan, anyTakenSpans, traceIds } from '../segment/support/arbitrary-spans.js';
import { bruteForce, serviceOf as nameOf, withoutBytes } from '../segment/support/brute-force.js';
import { byId, collect, tracesOf } from '../segment/support/segments.js';
import { seededRandom, syntheticSpans } from '../segment/support/synthetic-spans.js';
import { newDirectory } from './support/directory.js';

/** What the archive calls services without a name. */
const UNKNOWN = 'unknown_service';
const serviceOf = (span: ArchivedSpan): string => nameOf(span) || UNKNOWN;

/** No span of the test is of a service that is really called so. */
const wanted = (spans: readonly ArchivedSpan[], search: TraceSearch) =>
  bruteForce(spans, search.service === UNKNOWN ? { ...search, service: '' } : search).map((summary) => ({
    ...summary,
    service: summary.service || UNKNOWN,
  }));

/** What a test does with an archive. */
type Step =
  | { readonly do: 'append'; readonly writer: number; readonly spans: readonly ArchivedSpan[] }
  | { readonly do: 'flush' | 'seal' | 'compact' | 'reopen'; readonly writer: number };

const writer = fc.constantFrom(0, 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('append' as const), writer, spans: anyTakenSpans }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('flush' as const, 'seal', 'compact', 'reopen'), writer }),
  },
);

const search = fc.record<TraceSearch>(
  {
    service: fc.constantFrom('cart', 'frontend', UNKNOWN),
    name: fc.constantFrom('GET /', 'x', ''),
    status: fc.constantFrom('unset', 'ok', 'error'),
    fromUnixNs: fc.constantFrom(0n, 1_760_000_005_000_000_000n, 2n ** 63n),
    toUnixNs: fc.constantFrom(0n, 1_760_000_005_000_000_000n, 2n ** 63n),
    minDurationNs: fc.constantFrom(0n, 1_000_000_000n, 5_000_000_000n, 2n ** 63n),
    maxDurationNs: fc.constantFrom(0n, 5_000_000_000n, 2n ** 63n),
    properties: fc.dictionary(fc.constantFrom('http.method', 'db.rows'), fc.constantFrom('0', 'true', 'NaN', 'x', '')),
    linkedTo: fc.constantFrom(...traceIds),
    limit: fc.constantFrom(1, 2, 20, 1000),
  },
  { requiredKeys: [], noNullPrototype: true },
);

/** Two archives on one directory, and what they were given. */
class Run {
  private readonly spans = new Map<string, ArchivedSpan>();
  private constructor(
    private readonly directory: string,
    private readonly archives: Archive[],
  ) {}

  static async start(directory: string): Promise<Run> {
    return new Run(directory, [await open(directory), await open(directory)]);
  }

  async take(one: Step): Promise<void> {
    const archive = this.archives[one.writer];
    if (one.do === 'append') {
      // Which of two different spans with the same ids is kept is not said where two write; the same span may come again.
      const spans = one.spans.map((span) => this.spans.get(span.traceId + span.spanId) ?? span);
      for (const span of spans) this.spans.set(span.traceId + span.spanId, span);
      const once = spans.map((span) => this.spans.get(span.traceId + span.spanId) as ArchivedSpan);
      expect(archive.append(once)).toBe(once.length);
    } else if (one.do === 'reopen') {
      await archive.close();
      this.archives[one.writer] = await open(this.directory);
    } else await archive[one.do]();
  }

  async check(searches: readonly TraceSearch[]): Promise<void> {
    const all = [...this.spans.values()];
    const expected = tracesOf(all);
    for (const archive of this.archives) {
      const found = await archive.traces([...expected.keys(), 'e'.repeat(32)]);
      expect([...found.keys()]).toEqual([...expected.keys()]);
      for (const [id, trace] of expected) {
        expect(isDeepStrictEqual(byId(found.get(id) ?? []), byId(trace))).toBe(true);
        expect(sizeOf(traceTrees(found.get(id) ?? []))).toBe(trace.length);
      }
      for (const one of searches) expect(withoutBytes(await archive.search(one))).toEqual(wanted(all, one));
      expect(await archive.services()).toEqual([...new Set(all.map(serviceOf))].sort());
      for (const service of ['cart', UNKNOWN, 'nobody']) {
        const names = all.filter((span) => serviceOf(span) === service).map(({ name, kind }) => `${kind} ${name}`);
        const operations = await archive.operations(service);
        expect(new Set(operations.map(({ name, kind }) => `${kind} ${name}`))).toEqual(new Set(names));
        expect(operations).toHaveLength(new Set(names).size);
      }
      const scanned = new Map((await collect(archive.scan())).flat().map((span) => [span.traceId + span.spanId, span]));
      expect(isDeepStrictEqual(byId([...scanned.values()]), byId(all))).toBe(true);
      expect((await archive.stats()).damaged).toEqual([]);
    }
  }

  async end(): Promise<void> {
    for (const archive of this.archives) await archive.close();
  }
}

const open = (directory: string): Promise<Archive> =>
  Archive.open(directory, { unsortedSpans: 5, segmentSpans: 60, mergedSpans: 500 });

const sizeOf = (trees: ReturnType<typeof traceTrees>): number =>
  trees.reduce((sum, { children }) => sum + 1 + sizeOf(children), 0);

test('any steps', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 12 }),
      fc.array(search, { minLength: 4, maxLength: 4 }),
      async (steps, searches) => {
        const run = await Run.start(newDirectory());
        try {
          for (const one of steps) {
            await run.take(one);
            await run.check(searches.slice(0, 1));
          }
          await run.check(searches);
        } finally {
          await run.end();
        }
      },
    ),
    { numRuns: samples(2, 16, 400) },
  );
});

test('traces in parts', async () => {
  const directory = newDirectory();
  const archive = await Archive.open(directory, { unsortedSpans: 200, mergedSpans: 3000 });
  const random = seededRandom(42);
  const spans = syntheticSpans({ traces: 300, spansPerTrace: 8, seed: 43 }).map((span) => ({
    ...span,
    properties: { region: random() < 0.5 ? 'eu' : 'us' },
  }));
  const shuffled = spans.map((span) => [random(), span] as const).sort(([a], [b]) => a - b);
  const searches: TraceSearch[] = [
    {},
    { limit: 7 },
    { limit: 1000 },
    { service: 'cart', limit: 50 },
    { name: spans[3].name, status: 'error', limit: 300 },
    { maxDurationNs: 20_000_000n, limit: 300 },
    { maxDurationNs: 12_000_000n, properties: { region: 'eu' }, limit: 5 },
    { toUnixNs: spans[800].startUnixNs, limit: 10 },
    { minDurationNs: 25_000_000n, limit: 300 },
    { fromUnixNs: spans[100].startUnixNs, toUnixNs: spans[100].endUnixNs, limit: 300 },
  ];
  for (const [i, [, span]] of shuffled.entries()) {
    archive.append([span]);
    if (i % 400 === 399) await archive.seal();
    if (i % 800 !== 799) continue;
    if (i === 1599) await archive.compact();
    const known = shuffled.slice(0, i + 1).map(([, one]) => one);
    for (const search of searches)
      expect(withoutBytes(await archive.search(search))).toEqual(bruteForce(known, search));
  }
  expect((await archive.stats()).segments).toBeGreaterThan(1);
  await archive.compact();
  expect((await archive.stats()).segments).toBe(1);
  for (const search of searches) expect(withoutBytes(await archive.search(search))).toEqual(bruteForce(spans, search));
  await archive.close();
});

test('what is known of traces is the same for spans held and in segments; sizes are rounded there', async () => {
  const archive = await Archive.open(newDirectory());
  archive.append(fc.sample(anyTakenSpan, { numRuns: 200, seed: 44 }));
  const buffered = await archive.search({ limit: 1000 });
  await archive.seal();
  const sealed = await archive.search({ limit: 1000 });
  expect(withoutBytes(sealed)).toEqual(withoutBytes(buffered));
  for (const [i, { bytes }] of buffered.entries()) expect(Math.abs(sealed[i].bytes / bytes - 1)).toBeLessThan(0.1);
  await archive.close();
});
