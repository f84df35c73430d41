// Golden on a store with shapes of traces: search, blame and triage against the store, ignore rules, names that are markup and stay text, and a
// foreign page that may change nothing.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { digestChanges, GOLD_SCHEMA, GoldStore, openTable, type WideColumnTable } from '../../src/tracedb/index.js';
import type { ChangesAnswer, FoundDigest, SearchAnswer } from '../../src/ui/api/golden/answers.js';
import { buildFirst } from '../cli/support/spanline.js';
import { accessibilityFaults } from './support/accessibility.js';
import { hasBrowser, SIZES, useBrowser } from './support/browser.js';
import { useServer } from './support/served.js';

const OLD = '0cc175b9c0f1b6a831c399e269772661';
const NEW = '92eb5ffee6ae2fec3ad71c777531578f';
const HOSTILE = '<img src=x onerror="document.title=\'owned\'">';

let directory: string;
let table: WideColumnTable;
let gold: GoldStore;
buildFirst();
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spanline-ui-'));
  table = await openTable(join(directory, 'gold'), GOLD_SCHEMA);
  gold = await GoldStore.open(table);
  for (let commit = 0; commit < 6; commit++) {
    const digest = commit < 4 ? OLD : NEW;
    const shape = `GET /users\n  SELECT users ×${commit < 4 ? 1 : 20}\n  ${HOSTILE}`;
    const params = { name: 'list-users', kind: 'trace-shape' };
    await gold.put(commit, [{ params, digest, options: { shape } }], commit + 1);
  }
  await gold.expectations.triage([{ test: 'list-users', digest: OLD, status: 'positive' }], { by: 'ada' });
});
afterAll(async () => {
  await table?.close();
  await rm(directory, { recursive: true, force: true });
});
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
    expect(answer).toEqual(await digestChanges(gold, 100));
    expect(answer.commits).toMatchObject([
      { commit: 4, changes: [{ digest: NEW, before: { digest: OLD, status: 'positive' } }] },
      { commit: 0, changes: [{ digest: OLD, status: 'positive' }] },
    ]);
    expect((await ask('changes?status=positive')) as ChangesAnswer).toMatchObject({
      total: 1,
      totals: { positive: 1 },
    });
    expect((await ask(`digest?test=list-users&digest=${OLD}`)) as FoundDigest).toMatchObject({ lastCommit: 3 });
    expect((await fetch(`${url}/api/golden/digest?test=list-users&digest=beef`)).status).toBe(404);
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

describe.skipIf(!hasBrowser)('Golden in a browser', () => {
  const { open, keepPicture } = useBrowser();

  test('a digest is looked at and triaged, a rule comes and goes, markup stays text', async () => {
    const page = await open(`${await serve({ gold })}#/golden`);
    await page.getByRole('button', { name: NEW.slice(0, 8) }).click();
    await page.getByText(HOSTILE).first().waitFor();
    await page.getByText('One of these brought it: 4').waitFor();
    await page.getByLabel('note').fill('a query in a loop');
    await page.getByRole('button', { name: 'negative', exact: true }).click();
    await page.getByText('a query in a loop').waitFor();
    expect(await gold.expectations.get('list-users', NEW)).toMatchObject({
      status: 'negative',
      note: 'a query in a loop',
    });
    expect(await page.title()).not.toBe('owned');
    await page.getByLabel('query to ignore').fill('kind=trace-shape');
    await page.getByRole('button', { name: 'Ignore', exact: true }).click();
    await page.getByText('1 traces ignored').waitFor();
    await page.getByRole('button', { name: 'delete the rule kind=trace-shape' }).click();
    await page.getByText('0 traces ignored').waitFor();
    expect(await gold.ignores.list()).toEqual([]);
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const [size, viewport] of Object.entries(SIZES)) {
        const seen = await open(page.url(), { colorScheme, viewport });
        await seen.getByText('a query in a loop').waitFor();
        expect(await accessibilityFaults(seen)).toEqual([]);
        expect(await seen.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
        await keepPicture(seen, `golden-${colorScheme}-${size}`);
      }
    }
  });

  test('by commit: what it had before, a look by a key, and a triage from there', async () => {
    await gold.expectations.triage([{ test: 'list-users', digest: NEW, status: 'untriaged' }], { by: 'ada' });
    const page = await open(`${await serve({ gold })}#/golden`);
    await page.getByRole('button', { name: 'Changes by commit' }).click();
    const newest = page.getByRole('region', { name: 'Commit 4' });
    await newest.getByText('untriaged').waitFor();
    expect(await newest.getByRole('row').nth(1).innerText()).toMatch(
      /list-users\s+0cc175b9 positive\s+92eb5ffe untriaged\s+1\s+4/,
    );
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: NEW }).waitFor();
    await page.getByRole('button', { name: 'negative', exact: true }).click();
    await newest.getByText('negative').waitFor();
    expect((await gold.expectations.get('list-users', NEW)).status).toBe('negative');
    // The digest that was there before is gone from the last commit, and is shown all the same.
    await page.keyboard.press('j');
    await page.getByText('At commits 0 to 3.').waitFor();
    await page.getByLabel('status').selectOption('positive');
    await page.getByText('1 changes: 1 to positive').waitFor();
    expect(await newest.count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await keepPicture(page, 'golden-by-commit');
  });
});
