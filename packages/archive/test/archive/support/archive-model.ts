// A model of an archive: a plain map of spans, and steps that an archive and the model take together, after which both must say the same.
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { ArchivedSpan } from '../../../../../src/record/archived-span.js';
import fc from '../../../../../test/support/fast-check.js';
import type { Archive } from '../../../src/archive.js';
import type { TraceSearch } from '../../../src/trace-search.js';
import { traceTrees } from '../../../src/trace-trees.js';
import { anyTakenSpans, traceIds } from '../../segment/support/arbitrary-spans.js';
import { bruteForce, serviceOf as nameOf, withoutBytes } from '../../segment/support/brute-force.js';
import { byId, collect, tracesOf } from '../../segment/support/segments.js';

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

/** Where the archives of a run are. */
export interface ModelHome {
  /** Open the archive of a writer, 0 or 1. */
  readonly open: (writer: number) => Promise<Archive>;
  /** Whether a writer sees what the other has not sealed. */
  readonly sharesUnsealed: boolean;
}

/** Two archives in one place, and what they were given. */
class Run {
  private readonly spans = new Map<string, ArchivedSpan>();
  /** Keys of spans that are not sealed, by the writer that has them. */
  private readonly unsealed = [new Set<string>(), new Set<string>()];
  private constructor(
    private readonly home: ModelHome,
    private readonly archives: Archive[],
  ) {}

  static async start(home: ModelHome): Promise<Run> {
    return new Run(home, [await home.open(0), await home.open(1)]);
  }

  async take(one: Step): Promise<void> {
    const archive = this.archives[one.writer];
    if (one.do === 'append') {
      // Which of two different spans with the same ids is kept is not said where two write; the same span may come again.
      const spans = one.spans.map((span) => this.spans.get(span.traceId + span.spanId) ?? span);
      const sealed = this.seenBy(-1);
      for (const span of spans) {
        const key = span.traceId + span.spanId;
        this.spans.set(key, span);
        if (!sealed.has(key)) this.unsealed[one.writer].add(key);
      }
      const once = spans.map((span) => this.spans.get(span.traceId + span.spanId) as ArchivedSpan);
      expect(archive.append(once)).toBe(once.length);
    } else if (one.do === 'reopen') {
      await archive.close();
      this.seal(one.writer);
      this.archives[one.writer] = await this.home.open(one.writer);
    } else {
      await archive[one.do]();
      if (one.do === 'seal') this.seal(one.writer);
    }
  }

  async check(searches: readonly TraceSearch[]): Promise<void> {
    for (const [writer, archive] of this.archives.entries())
      await checkArchive(archive, [...this.seenBy(writer).values()], searches);
  }

  async end(): Promise<void> {
    for (const archive of this.archives) await archive.close();
  }

  private seal(writer: number): void {
    // Whoever else has it too has it twice.
    for (const key of this.unsealed[writer]) for (const keys of this.unsealed) keys.delete(key);
  }

  /** What one sees of all; -1: what everybody does. */
  private seenBy(writer: number): ReadonlyMap<string, ArchivedSpan> {
    if (this.home.sharesUnsealed) return this.spans;
    const hidden = ([key]: [string, ArchivedSpan]): boolean =>
      this.unsealed.some((keys) => keys.has(key)) && this.unsealed[writer]?.has(key) !== true;
    return new Map([...this.spans].filter((entry) => !hidden(entry)));
  }
}

/** An archive says of all spans what the model says. */
const checkArchive = async (
  archive: Archive,
  all: readonly ArchivedSpan[],
  searches: readonly TraceSearch[],
): Promise<void> => {
  const expected = tracesOf(all);
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
};

const sizeOf = (trees: ReturnType<typeof traceTrees>): number =>
  trees.reduce((sum, { children }) => sum + 1 + sizeOf(children), 0);

/** Any steps, in a home of their own for each run. */
export const checkAnySteps = async (numRuns: number, newHome: () => ModelHome): Promise<void> => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 12 }),
      fc.array(search, { minLength: 4, maxLength: 4 }),
      async (steps, searches) => {
        const run = await Run.start(newHome());
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
    { numRuns },
  );
};
