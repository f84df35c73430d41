// Golden in a browser, on a store with shapes of traces: search, blame and triage, ignore rules, names that are markup and stay text.
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildFirst, scratch } from '../../../test/support/built.js';
import { GOLD_SCHEMA, GoldStore, openTable } from '../../tracedb/src/index.js';
import { accessibilityFaults } from './support/accessibility.js';
import { hasBrowser, sizesIn, useBrowser } from './support/browser.js';
import { HOSTILE, makeGolden, NEW } from './support/golden.js';
import { useServer } from './support/served.js';

buildFirst();
const directory = scratch();
let gold: GoldStore;
let stores = 0;
// A store for each test, for they triage.
beforeEach(async () => {
  gold = await makeGolden(join(directory, String(stores++)));
});
afterEach(() => gold.table.close());
const serve = useServer();

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
