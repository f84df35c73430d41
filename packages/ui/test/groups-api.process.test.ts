// Groups of one shape and comparisons: the answers against shapes and sums taken by hand from the archive.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ArchivedSpan } from '../../../src/record/archived-span.js';
import { scratch } from '../../../test/support/built.js';
import { Archive } from '../../archive/src/index.js';
import type { CompareAnswer, GroupsAnswer } from '../src/api/answers.js';
import { makeTraces, tracesIn } from './support/archive.js';
import { useServer } from './support/served.js';

const dir = scratch();
const serve = useServer();
let archive: Archive;
let url: string;

beforeAll(async () => {
  await makeTraces(tracesIn(dir), 1000);
  archive = await Archive.open(tracesIn(dir), { readOnly: true });
  url = await serve({ archive });
});
afterAll(() => archive.close());

const ask = async <T>(path: string): Promise<T> => (await (await fetch(`${url}/api/${path}`)).json()) as T;

/** The names of a trace in their order: traces of the test differ in nothing else. */
const namesOf = (spans: readonly ArchivedSpan[]): string =>
  spans
    .map(({ name }) => name)
    .sort()
    .join();

const usOf = (spans: readonly ArchivedSpan[], name: string): number =>
  spans
    .filter((span) => span.name === name)
    .reduce((sum, { startUnixNs, endUnixNs }) => sum + Number(endUnixNs - startUnixNs) / 1000, 0);

describe('answers', () => {
  test('traces that did the same are one group, with exact ranks of their times', async () => {
    const { groups, traceCount, isFull } = await ask<GroupsAnswer>('groups');
    const byNames = new Map<string, number[]>();
    for (const { traceId, durationNs } of await archive.search({ limit: 1000 })) {
      const names = namesOf(await archive.trace(traceId));
      byNames.set(names, [...(byNames.get(names) ?? []), Number(durationNs) / 1000]);
    }
    const expected = [...byNames.values()].map((times) => times.toSorted((a, b) => a - b));
    expect([traceCount, isFull]).toEqual([14, false]);
    const ranks = (rows: readonly (readonly number[])[]) => rows.map((row) => row.join(' ')).sort();
    expect(ranks(groups.map(({ count, p50Us, p99Us }) => [count, p50Us, p99Us]))).toEqual(
      ranks(expected.map((times) => [times.length, times[Math.ceil(times.length / 2) - 1], times[times.length - 1]])),
    );
    expect(groups.find(({ spanCount }) => spanCount === 4)?.shape).toBe(
      'GET /orders\n  SELECT item ×2\n  SELECT orders',
    );
  });

  test('a comparison has the mean of both sides', async () => {
    const { groups } = await ask<GroupsAnswer>('groups?name=GET%20/orders');
    const [few, many] = [2, 4].map((spans) => groups.find(({ spanCount }) => spanCount === spans)?.digest);
    const { rows, left, right } = await ask<CompareAnswer>(`compare?a=group:${few}&b=group:${many}&name=GET%20/orders`);
    expect([left.traceCount, right.traceCount]).toEqual([4, 4]);
    expect(rows.map(({ depth, name, left, right }) => [depth, name, left.count, right.count])).toEqual([
      [0, 'GET /orders', 1, 1],
      [1, 'SELECT orders', 1, 1],
      [1, 'SELECT item', 0, 2],
    ]);
    const traces = [
      ...(await archive.traces((await archive.search({ limit: 100 })).map(({ traceId }) => traceId))).values(),
    ];
    const of = traces.filter((spans) => namesOf(spans) === 'GET /orders,SELECT item,SELECT item,SELECT orders');
    const mean = of.reduce((sum, spans) => sum + usOf(spans, 'SELECT item'), 0) / of.length;
    expect(rows[2].right.us).toBeCloseTo(mean, 3);
  });

  test('what is wrong is refused by its name', async () => {
    const refused = async (path: string) => {
      const response = await fetch(`${url}/api/${path}`);
      return [response.status, JSON.stringify(await response.json())];
    };
    expect(await refused('compare?a=trace:1')).toEqual([400, expect.stringContaining('parameter b is required')]);
    expect(await refused('compare?a=1&b=2')).toEqual([400, expect.stringContaining('trace:ID or group:DIGEST')]);
    expect(await refused('compare?a=group:0&b=group:1')).toEqual([404, expect.stringContaining('choose again')]);
  });
});
