// Answers of the search against the archive itself: conditions, times as people write them, quoted properties, pages that neither repeat nor miss a
// trace, and the columns of many traces.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ArchivedSpan } from '../../../src/record/archived-span.js';
import { scratch } from '../../../test/support/built.js';
import { Archive } from '../../archive/src/index.js';
import { span, spanIdOf, traceIdOf } from '../../archive/test/segment/support/segments.js';
import type { PointsAnswer, TracesAnswer } from '../src/api/answers.js';
import { findTraces, quotedPairs, searchOf } from '../src/api/traces/search-of.js';
import { statusesOf } from '../src/api/traces/traces-routes.js';
import { useServer } from './support/served.js';

const dir = scratch();
const serve = useServer();
let archive: Archive;
let url: string;

const START = 1_760_000_000_000_000_000n;
const MS = 1_000_000n;

/** A trace a second, but three at once; each lasts one millisecond more than the one before. */
const startOf = (i: number): bigint => START + BigInt(i >= 10 && i < 13 ? 10 : i) * 1000n * MS;
const durationOf = (i: number): bigint => BigInt(i + 1) * MS + 500n;
const traces: readonly ArchivedSpan[] = Array.from({ length: 40 }, (_, i) =>
  span({
    traceId: traceIdOf(1000 - i),
    spanId: spanIdOf(i + 1),
    name: `GET /${i % 3}`,
    startUnixNs: startOf(i),
    endUnixNs: startOf(i) + durationOf(i),
    status: { code: i % 8 === 0 ? 'error' : 'unset', message: '' },
    properties: { user: i === 5 ? 'Ada "the first" Lovelace' : `user-${i}` },
  }),
);

beforeAll(async () => {
  archive = await Archive.open(dir);
  archive.append(traces.slice(0, 20));
  await archive.seal();
  archive.append(traces.slice(20));
  url = await serve({ archive });
});
afterAll(() => archive.close());

const ask = async <T>(path: string, query: Record<string, string> = {}): Promise<T> => {
  const response = await fetch(`${url}/api/${path}?${new URLSearchParams(query)}`);
  const body = (await response.json()) as T;
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  return body;
};
const idsOf = ({ traces }: TracesAnswer): string[] => traces.map(({ traceId }) => traceId);
const idsIn = ({ ids }: PointsAnswer): string[] => ids.match(/.{32}/g) ?? [];
/** All, the newest first; of one start by id. */
const newestFirst = traces
  .toSorted((a, b) => Number(b.startUnixNs - a.startUnixNs) || (a.traceId < b.traceId ? -1 : 1))
  .map(({ traceId }) => traceId);

describe('times', () => {
  const secondOf = (i: number): string => new Date(Number(startOf(i) / MS)).toISOString();
  test.each([
    ['RFC 3339', secondOf(30)],
    ['as the page shows it', secondOf(30).replace('T', ' ').replace('Z', '')],
    ['with the zone', secondOf(30).replace('T', ' ').replace('Z', '\u00a0UTC')],
    ['Unix microseconds', String(startOf(30) / 1000n)],
  ])('%s', async (_, from) => {
    expect(idsOf(await ask('traces', { from }))).toEqual(newestFirst.slice(0, 10));
    expect(idsOf(await ask('traces', { to: from }))).toEqual(newestFirst.slice(9));
  });

  test('a day, a minute, and as long ago as one says', async () => {
    const day = secondOf(0).slice(0, 10);
    expect(idsOf(await ask('traces', { from: day }))).toEqual(newestFirst);
    const dayBefore = new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);
    expect(idsOf(await ask('traces', { to: day }))).toEqual(newestFirst);
    expect(idsOf(await ask('traces', { to: dayBefore }))).toEqual([]);
    expect(idsOf(await ask('traces', { from: secondOf(39).slice(0, 16) })).length).toBeGreaterThan(0);
    expect(idsOf(await ask('traces', { from: '1h' }))).toEqual([]);
    expect(idsOf(await ask('traces', { from: '900000h' }))).toEqual(newestFirst);
  });

  test.each([
    ['from', 'yesterday'],
    ['to', '2026-13-01'],
    ['min', 'soon'],
    ['properties', 'user="Ada'],
    ['picked', '1-2-3'],
    ['before', 'x'],
    ['limit', '1501'],
    ['status', 'bad'],
  ])('%s=%s is refused by its name', async (name, value) => {
    await expect(ask('traces', { [name]: value })).rejects.toThrow(new RegExp(`^400 .*${name} must be`));
  });
});

describe('properties', () => {
  test('a value with blanks and quotes stands in quotes', async () => {
    const found = await ask<TracesAnswer>('traces', { properties: 'user="Ada \\"the first\\" Lovelace"' });
    expect(idsOf(found)).toEqual([traces[5].traceId]);
  });

  test.each<[string, Record<string, string> | undefined]>([
    ['a=1 b=2', { a: '1', b: '2' }],
    ['  a=  b=x=y ', { a: '', b: 'x=y' }],
    ['"a key"="a value" c=3', { 'a key': 'a value', c: '3' }],
    ['__proto__=x', Object.fromEntries([['__proto__', 'x']])],
    ['a="x"y', undefined],
    ['a', undefined],
    ['=x', undefined],
    ['a="x', undefined],
    ['a=1 b', undefined],
  ])('%s', (text, pairs) => {
    expect(quotedPairs(text)).toEqual(pairs);
  });
});

describe('a search that was ended by its bound', () => {
  /** The archive, of whose traces only those that begin behind `endsNs` are looked for, and now and then one that is older. */
  const ending = (endsNs: bigint, old: number) => {
    const asked: (bigint | undefined)[] = [];
    const search: Archive['search'] = async (conditions, call) => {
      asked.push(conditions?.toUnixNs);
      const found = await archive.search(conditions);
      if (conditions?.toUnixNs !== undefined && conditions.toUnixNs < endsNs + 1n) return found;
      call?.onOver?.(endsNs);
      return found.filter(({ startUnixNs }) => startUnixNs > endsNs || startUnixNs === startOf(old));
    };
    return { asked, bounded: { search } as Archive };
  };
  const find = (bounded: Archive, query: Record<string, string> = {}) =>
    findTraces(bounded, searchOf(new URLSearchParams(query)), new AbortController().signal);

  test('is shown as far as nothing is missing, and goes on from there', async () => {
    const { asked, bounded } = ending(startOf(20), 3);
    const first = await find(bounded);
    expect(first.traces.map(({ traceId }) => traceId)).toEqual(newestFirst.slice(0, 19));
    expect(first.endedAtNs).toBe(startOf(20));
    const rest = await find(bounded, { before: String(first.next) });
    expect(rest.traces.map(({ traceId }) => traceId)).toEqual(newestFirst.slice(19));
    expect(rest.endedAtNs).toBeUndefined();
    expect(asked).toEqual([undefined, startOf(20)]);
  });

  test('is no other than any when it found a page before', async () => {
    const { bounded } = ending(startOf(20), 3);
    const { traces, next, endedAtNs } = await find(bounded, { limit: '5' });
    expect(traces.map(({ traceId }) => traceId)).toEqual(newestFirst.slice(0, 5));
    expect([next, endedAtNs]).toEqual([`${startOf(35)}-${traceIdOf(965)}`, undefined]);
  });

  test('offers no way on when it would come no further', async () => {
    const search: Archive['search'] = async (conditions, call) => {
      const found = await archive.search(conditions);
      call?.onOver?.(startOf(20));
      return found.filter(({ startUnixNs }) => startUnixNs === startOf(3));
    };
    const found = await find({ search } as Archive, { before: `${startOf(20)}-${traceIdOf(980)}` });
    expect(found).toEqual({ traces: [expect.objectContaining({ traceId: traceIdOf(997) })], endedAtNs: startOf(20) });
  });
});

describe('pages', () => {
  test.each([1, 2, 7, 40])('of %d have every trace once and in order', async (limit) => {
    const seen: string[] = [];
    let next: string | undefined;
    do {
      const page: TracesAnswer = await ask('traces', { limit: String(limit), ...(next && { before: next }) });
      expect(page.traces.length).toBeLessThanOrEqual(limit);
      seen.push(...idsOf(page));
      next = page.next;
    } while (next !== undefined);
    expect(seen).toEqual(newestFirst);
  });

  test('of points too', async () => {
    const first = await ask<PointsAnswer>('traces/points', { limit: '28' });
    const rest = await ask<PointsAnswer>('traces/points', { limit: '28', before: first.next as string });
    expect([...idsIn(first), ...idsIn(rest)]).toEqual(newestFirst);
    expect(rest.next).toBeUndefined();
  });
});

describe('points', () => {
  test('are the same traces in columns', async () => {
    const points = await ask<PointsAnswer>('traces/points', { limit: '100000' });
    const byId = new Map(traces.map((one) => [one.traceId, one]));
    expect(idsIn(points)).toEqual(newestFirst);
    for (const [i, id] of idsIn(points).entries()) {
      const { startUnixNs, endUnixNs, status, name } = byId.get(id) as ArchivedSpan;
      expect(points.startUs[i]).toBe(Number(startUnixNs / 1000n));
      expect(points.durationUs[i]).toBe(Number((endUnixNs - startUnixNs) / 1000n));
      expect(points.isError[i]).toBe(status.code === 'error' ? 1 : 0);
      expect(points.names[points.name[i]]).toBe(name);
    }
    await expect(ask('traces/points', { limit: '100001' })).rejects.toThrow(/^400 .*limit must be/);
  });

  test('a window of them chooses traces by their start and their duration, its ends included', async () => {
    const points = await ask<PointsAnswer>('traces/points', { limit: '100' });
    // By the whole microseconds that the page knows.
    const at = (i: number) => idsIn(points).indexOf(traces[i].traceId);
    const window = [
      points.startUs[at(8)],
      points.startUs[at(25)],
      points.durationUs[at(11)],
      points.durationUs[at(20)],
    ].join('-');
    const chosen = traces.filter((_, i) => i >= 11 && i <= 20).map(({ traceId }) => traceId);
    const expected = newestFirst.filter((id) => chosen.includes(id));
    expect(idsOf(await ask('traces', { picked: window }))).toEqual(expected);
    // Together with other conditions and over pages.
    const failed = await ask<TracesAnswer>('traces', { picked: window, status: 'error' });
    expect(idsOf(failed)).toEqual([traces[16].traceId]);
    const first = await ask<TracesAnswer>('traces', { picked: window, limit: '4' });
    const second = await ask<TracesAnswer>('traces', { picked: window, limit: '40', before: first.next as string });
    expect([...idsOf(first), ...idsOf(second)]).toEqual(expected);
    // A trace that is under way in the window and began before it is not in it.
    const later = `${points.startUs[at(39)] + 1}-${points.startUs[at(39)] + 100}-0-9999999`;
    expect(idsOf(await ask('traces', { picked: later }))).toEqual([]);
  });
});

describe('how the traces of a list ended', () => {
  const at = (n: number, changes: Partial<ArchivedSpan>): ArchivedSpan =>
    span({ traceId: traceIdOf(n), spanId: spanIdOf(1), ...changes });
  const answered = (key: string, status: string | number): Partial<ArchivedSpan> => ({ properties: { [key]: status } });

  test('by the status code and the status of the root, whatever the spans below say', async () => {
    const below = { spanId: spanIdOf(2), parentSpanId: spanIdOf(1), status: { code: 'error', message: '' } } as const;
    await using made = await Archive.open(scratch()).then((opened) =>
      Object.assign(opened, { [Symbol.asyncDispose]: () => opened.close() }),
    );
    made.append([
      at(1, answered('http.response.status_code', 404)),
      at(1, { ...answered('http.response.status_code', 500), ...below, startUnixNs: START - 1n }),
      at(2, answered('http.status_code', '503')),
      at(3, { ...answered('http.status_code', 'none'), status: { code: 'error', message: '' } }),
      at(4, {}),
      ...Array.from({ length: 9 }, (_, i) => at(5, { spanId: spanIdOf(i + 1) })),
    ]);
    const response = await fetch(`${await serve({ archive: made })}/api/traces`);
    const { traces } = (await response.json()) as TracesAnswer;
    expect(Object.fromEntries(traces.map(({ traceId, status }) => [Number(`0x${traceId}`), status]))).toEqual({
      1: { http: 404, isFailed: false },
      2: { http: 503, isFailed: false },
      3: { isFailed: true },
      4: { isFailed: false },
      5: { isFailed: false },
    });
    // A trace that is too much leaves room for those behind it.
    const few = await statusesOf(made, await made.search(), new AbortController().signal, 6);
    expect([...few.keys()].sort()).toEqual([1, 2, 3, 4].map(traceIdOf));
  });
});
