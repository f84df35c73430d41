// Golden on a store with shapes of traces: search, blame and triage against the store, ignore rules, names that are markup and stay text, and a
// foreign page that may change nothing.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { digestChanges, GOLD_SCHEMA, GoldStore, openTable, type WideColumnTable } from '../../src/tracedb/index.js';
import type { ChangesAnswer, DigestAnswer, FoundDigest, SearchAnswer } from '../../src/ui/api/golden/answers.js';
import { buildFirst } from '../cli/support/spanline.js';
import { accessibilityFaults } from './support/accessibility.js';
import { hasBrowser, sizesIn, useBrowser } from './support/browser.js';
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
    const text = `GET /users\n  SELECT users ×${commit < 4 ? 1 : 20}\n  ${HOSTILE}`;
    const params = { name: 'list-users', kind: 'trace-shape' };
    const commitInfo = { hash: `${commit}`.repeat(40), timestampMs: Date.UTC(2026, 0, 1 + commit) };
    await gold.put(commit, [{ params, digest, text }], commit + 1, commit === 5 ? {} : { commitInfo });
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

describe.skipIf(!hasBrowser)('Golden in a browser', () => {
  const { open, keepPicture, expectFaults } = useBrowser();

  test('a digest is looked at and triaged, a rule comes and goes, markup stays text', async () => {
    const page = await open(`${await serve({ gold })}#/golden`);
    await page.getByRole('button', { name: NEW.slice(0, 8) }).click();
    await page.getByText(HOSTILE).first().waitFor();
    await page.getByText('One of these brought it: 4 (4444444444, 2026-01-05).').waitFor();
    const diff = page.getByRole('region', { name: 'from 0cc175b9 to 92eb5ffe' });
    expect(await diff.locator('del').allInnerTexts()).toEqual([expect.stringContaining('SELECT users ×1')]);
    expect(await diff.locator('ins').allInnerTexts()).toEqual([expect.stringContaining('SELECT users ×20')]);
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
    await page.getByText('1 trace ignored').waitFor();
    await page.getByRole('button', { name: 'delete the rule kind=trace-shape' }).click();
    await page.getByText('0 traces ignored').waitFor();
    expect(await gold.ignores.list()).toEqual([]);
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const [size, viewport] of Object.entries(sizesIn(colorScheme))) {
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
    const newest = page.getByRole('region', { name: 'Commit 4 (4444444444, 2026-01-05)' });
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
    await page.getByText('At commits 0 (0000000000, 2026-01-01) to 3 (3333333333, 2026-01-04).').waitFor();
    await page.getByLabel('status').selectOption('positive');
    await page.getByText('1 change: 1 to positive').waitFor();
    expect(await newest.count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await keepPicture(page, 'golden-by-commit');
  });

  test('many digests come in pages, older commits are asked for, and the search field goes back with the page', async () => {
    const crowd = await GoldStore.open(await openTable(join(directory, 'crowd'), GOLD_SCHEMA));
    const digestOf = (test: number, commit: number): string => (test * 100 + commit).toString(16).padStart(32, '0');
    for (let commit = 0; commit < 30; commit++) {
      const entries = Array.from({ length: 120 }, (_, test) => ({
        params: { name: `test-${String(test).padStart(3, '0')}` },
        digest: digestOf(test, test === 7 ? commit : 0),
      }));
      await crowd.put(commit, entries, commit + 1);
    }
    const page = await open(`${await serve({ gold: crowd })}#/golden`);
    const rows = page.getByRole('region', { name: 'Digests' }).getByRole('row');
    await page.getByText('1 to 100 of 120').waitFor();
    expect(await rows.count()).toBe(101);
    await page.getByRole('button', { name: 'Next 100' }).click();
    await page.getByText('101 to 120 of 120').waitFor();
    expect(await rows.nth(1).innerText()).toContain('test-100');
    expect(await page.getByRole('button', { name: 'Next 100' }).isDisabled()).toBe(true);
    // A search begins at its first page; going back takes it out of the field.
    const field = page.getByRole('searchbox', { name: 'query', exact: true });
    await field.fill('name=test-007');
    await field.press('Enter');
    await page.getByText('1 digest: 1 untriaged').waitFor();
    await page.goBack();
    await page.getByText('101 to 120 of 120').waitFor();
    expect(await field.inputValue()).toBe('');
    await page.goForward();
    await page.getByText('1 digest: 1 untriaged').waitFor();
    expect(await field.inputValue()).toBe('name=test-007');
    await page.getByRole('button', { name: 'Changes by commit' }).click();
    await page.getByRole('heading', { name: 'Commit 29' }).waitFor();
    await page.getByLabel('Commits with data').selectOption('20');
    await page.getByText('19 changes: ').waitFor();
    await page.getByRole('button', { name: 'Older changes' }).click();
    await page.getByRole('heading', { name: 'Commit 10', exact: true }).waitFor();
    expect(await page.getByRole('heading', { name: 'Commit 11', exact: true }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Older changes' }).isDisabled()).toBe(true);
    // The digest of that time is looked at in those commits.
    await page.keyboard.press('j');
    await page.getByText('At commits 10 to 10.').waitFor();
    await page.getByText('No text is kept of this digest').waitFor();
    await page.getByRole('button', { name: 'Newest changes' }).click();
    await page.getByRole('heading', { name: 'Commit 29' }).waitFor();
    await crowd.table.close();
  });

  test('an error of a triage goes with the next one that is kept', async () => {
    const page = await open(`${await serve({ gold })}#/golden?test=list-users&digest=${NEW}`);
    await page.getByRole('button', { name: 'untriaged', exact: true }).waitFor();
    expectFaults();
    await page.route('**/golden/triage', (route) => route.abort(), { times: 1 });
    await page.getByRole('button', { name: 'positive', exact: true }).click();
    await page.getByText('the server does not answer').waitFor();
    await page.getByRole('button', { name: 'positive', exact: true }).click();
    await page.getByText('→ positive').waitFor();
    expect(await page.getByText('the server does not answer').count()).toBe(0);
  });
});
