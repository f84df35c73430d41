// What the server answers of Golden, on a store with shapes of traces: search, blame and triage against the store, and a foreign page that may change
// nothing.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scratch } from '../../../test/support/built.js';
import { digestChanges, type GoldStore } from '../../tracedb/src/index.js';
import type { ChangesAnswer, DigestAnswer, FoundDigest, SearchAnswer } from '../src/api/golden/answers.js';
import { makeGolden, NEW, OLD } from './support/golden.js';
import { useServer } from './support/served.js';

const directory = scratch();
let gold: GoldStore;
beforeAll(async () => {
  gold = await makeGolden(directory);
});
afterAll(() => gold.table.close());
const serve = useServer();

const say = (url: string, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/api/golden/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

describe('what the server answers of digests', () => {
  test('search and blame are those of the store', async () => {
    const url = await serve({ gold });
    const answer = (await (await fetch(`${url}/api/golden/search`)).json()) as SearchAnswer;
    const model = await gold.search(100);
    expect(answer.total).toBe(model.total);
    expect(answer.results).toMatchObject([{ test: 'list-users', digest: NEW, firstCommit: 4, suspects: [4] }]);
    expect((await fetch(`${url}/api/golden/search?status=fine`)).status).toBe(400);
    expect((await fetch(`${await serve({})}/api/golden/search`)).status).toBe(404);
  });

  test('what changed at which commit, and a digest that is gone, are those of the store', async () => {
    const url = await serve({ gold });
    const ask = async (path: string) => (await fetch(`${url}/api/golden/${path}`)).json();
    const answer = (await ask('changes')) as ChangesAnswer;
    const known = Object.fromEntries(await gold.commitInfos([0, 4]));
    expect(answer).toEqual({ ...(await digestChanges(gold, 100)), known: JSON.parse(JSON.stringify(known)) });
    expect(known[4]).toEqual({ hash: '4'.repeat(40), timestampMs: Date.UTC(2026, 0, 5) });
    expect(answer.commits).toMatchObject([
      { commit: 4, changes: [{ digest: NEW, before: { digest: OLD, status: 'positive' } }] },
      { commit: 0, changes: [{ digest: OLD, status: 'positive' }] },
    ]);
    expect((await ask('changes?status=positive')) as ChangesAnswer).toMatchObject({
      total: 1,
      totals: { positive: 1 },
    });
    expect((await ask(`digest?test=list-users&digest=${OLD}`)) as FoundDigest).toMatchObject({ lastCommit: 3 });
    const looked = (await ask(`digest?test=list-users&digest=${NEW}`)) as DigestAnswer;
    expect(looked.text).toContain('SELECT users ×20');
    // What was there before is also the closest that is right.
    expect(looked.references).toEqual([
      {
        digest: OLD,
        status: 'positive',
        roles: ['before', 'closest positive'],
        text: expect.stringContaining('SELECT users ×1\n'),
      },
    ]);
    expect((await fetch(`${url}/api/golden/digest?test=list-users&digest=beef`)).status).toBe(404);
    expect((await fetch(`${url}/api/golden/changes?last=x`)).status).toBe(400);
    expect((await fetch(`${url}/api/golden/changes?status=fine`)).status).toBe(400);
    expect((await fetch(`${url}/api/golden/changes?commits=none`)).status).toBe(400);
  });

  test('a foreign page, a digest nobody saw and a rule without an end change nothing', async () => {
    const url = await serve({ gold });
    const change = { test: 'list-users', digest: NEW, status: 'negative' };
    const origin = 'http://elsewhere.example';
    expect((await say(url, 'triage', change, { origin })).status).toBe(403);
    expect((await say(url, 'ignores/add', { query: 'a=b', days: 1 }, { origin })).status).toBe(403);
    expect((await say(url, 'triage', { ...change, test: 'list-user' })).status).toBe(404);
    expect((await say(url, 'ignores/add', { query: 'a=b' })).status).toBe(400);
    expect((await say(url, 'ignores/delete', { id: '0123456789abcdef' })).status).toBe(404);
    expect((await gold.expectations.get('list-users', NEW)).status).toBe('untriaged');
    expect(await gold.ignores.list()).toEqual([]);
  });
});
