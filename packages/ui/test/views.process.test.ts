// Each view of the page in a real browser, on real data, as it is mostly used; what else each can do is in the file of the view (*.full.test.ts).
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildFirst, scratch } from '../../../test/support/built.js';
import { Archive } from '../../archive/src/index.js';
import { spanAt } from '../../archive/test/support/traces.js';
import type { GoldStore } from '../../tracedb/src/index.js';
import { hashOf, makeBenchHistory, STEP_AT } from './support/bench-history.js';
import { hasBrowser, useBrowser } from './support/browser.js';
import { CART, makeCart } from './support/cart.js';
import { HOSTILE, makeGolden, NEW } from './support/golden.js';
import { useServer } from './support/served.js';
import { TOKEN, useShop, useSnapshotStores } from './support/shop-process.js';
import { BEFORE, makeShopProfile } from './support/shop-profiles.js';

describe.skipIf(!hasBrowser)('the views', () => {
  buildFirst();
  const dir = scratch();
  const { open } = useBrowser();
  const serve = useServer();
  const running = useShop(join(dir, 'recorded.mjs'));
  const snapshotStoreOf = useSnapshotStores();
  let archive: Archive;
  let gold: GoldStore;
  let url: string;

  beforeAll(async () => {
    const [traces, history, profiles] = ['traces', 'history', 'profiles'].map((name) => join(dir, name));
    await makeCart(traces);
    archive = await Archive.open(traces, { readOnly: true });
    mkdirSync(history);
    makeBenchHistory(history);
    gold = await makeGolden(dir);
    // About 200 samples, half of them in the function that is looked for.
    await makeShopProfile(dir, BEFORE, 4, 200);
    url = await serve({ archive, history, gold, profiles, snapshots: snapshotStoreOf() });
  });
  afterAll(async () => {
    await archive.close();
    await gold.table.close();
  });

  const parametersOf = (page: Page): URLSearchParams => new URLSearchParams(page.url().split('?')[1]);

  /** Whoever reads a time of day reads its zone. */
  const expectZones = async (page: Page): Promise<void> => {
    const text = (await page.locator('main').textContent()) ?? '';
    expect(text).toMatch(/\d\d:\d\d/);
    expect(text.match(/.{0,20}(?<!\d)\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?![\d:.]|\sUTC)/g)).toBeNull();
  };

  test('the frame: keys go to the views', async () => {
    const page = await open(`${url}#/traces`);
    await page.getByText('3 traces').waitFor();
    await page.keyboard.press('6');
    await page.getByRole('heading', { name: 'Golden' }).first().waitFor();
    expect(new URL(page.url()).hash).toBe('#/golden');
  });

  test('Live: a request appears as it ends, and its name stays text', async () => {
    await using live = await Archive.open(join(dir, 'live')).then((made) => ({
      made,
      [Symbol.asyncDispose]: () => made.close(),
    }));
    const page = await open(await serve({ archive: live.made }));
    await page.getByText('Nothing arrived in the last minute').waitFor();
    const endUnixNs = BigInt(Date.now()) * 1_000_000n;
    live.made.append([
      {
        ...spanAt(1, 1, HOSTILE, 0, 0, { kind: 'server', properties: { 'http.response.status_code': 404 } }),
        ...{ startUnixNs: endUnixNs - 20_000_000n, endUnixNs },
      },
    ]);
    await page.getByRole('cell', { name: HOSTILE }).waitFor();
    // It is not an error to its server, but seen; the time says its zone. What has no source has no place in the navigation.
    expect(await page.getByRole('listitem').first().innerText()).toMatch(
      /\n404\n\d\d:\d\d:\d\d\.\d{3}\sUTC\n20\.0 ms$/,
    );
    expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual([
      'Live',
      'Traces',
      'Stalls',
    ]);
    expect(await page.locator('main img').count()).toBe(0);
  });

  test('Traces: a search finds a trace; a span in it is selected, with what it has', async () => {
    const page = await open(`${url}#/traces`);
    await page.getByLabel('span name').fill('SELECT');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('1 traces').waitFor();
    await expectZones(page);
    await page.locator('tbody tr a').first().click();
    await page.getByText(/ of 100 ms, 5 rows/).waitFor();
    await page.keyboard.press('End');
    await page.getByRole('complementary').getByText('Ada Lovelace').waitFor();
    await page.getByText('3 links out, 2 in').waitFor();
    await expectZones(page);
    await page.getByRole('application', { name: 'timeline of shop 4711' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.locator('.timeline .shown').getByText('build report').waitFor();
  });

  test('Traces by shape: two are compared', async () => {
    const page = await open(`${url}#/traces/groups`);
    const boxes = page.getByRole('checkbox', { name: /^compare/ });
    await boxes.nth(0).check();
    await boxes.nth(1).check();
    await page.getByRole('link', { name: 'Compare the two' }).click();
    await page.getByRole('cell', { name: 'SELECT' }).waitFor();
  });

  test('Stalls: one leads to the trace that waited', async () => {
    const page = await open(`${url}#/stalls`);
    const card = page.locator('.stall', { hasText: 'build report' });
    await card.getByText('waited').waitFor();
    await expectZones(page);
    await card.getByRole('link', { name: 'GET /cart' }).click();
    await page.waitForURL(new RegExp(`traces/show\\?id=${CART}`));
  });

  test('Profiles: from the table of a label to the flame graph of one of its values', async () => {
    const page = await open(`${url}#/profiles?look=table`);
    await page.getByLabel('by label').selectOption('query');
    await expectZones(page);
    await page.getByRole('link', { name: 'select 1', exact: true }).click();
    await page.locator('canvas.flame').waitFor();
    await page.getByText('Functions by their own time').click();
    await page.getByRole('button', { name: 'parseRows' }).waitFor();
  });

  test('History: a change is shown with the commits that may have made it', async () => {
    const page = await open(`${url}#/history?query=unit%3Dms`);
    await page.locator('.plot canvas').first().waitFor();
    await page.keyboard.press('j');
    await page.getByText('1 commit that may have made it').waitFor();
    expect(parametersOf(page).get('step')).toBe(hashOf(STEP_AT).slice(0, 10));
  });

  test('Golden: a digest is looked at against the one before, and judged', async () => {
    const page = await open(`${url}#/golden`);
    await page.getByRole('button', { name: NEW.slice(0, 8) }).click();
    const diff = page.getByRole('region', { name: 'from 0cc175b9 to 92eb5ffe' });
    await diff.locator('ins', { hasText: 'SELECT users ×20' }).waitFor();
    await page.getByRole('button', { name: 'negative', exact: true }).click();
    await expect.poll(async () => (await gold.expectations.get('list-users', NEW)).status).toBe('negative');
    expect(await page.title()).not.toBe('owned');
    await page.getByText('untriaged → negative').waitFor();
    await expectZones(page);
  });

  test('Snapshots: one of a running process is taken and looked at', async () => {
    const pid = await running({ flightRecorder: {} }, { env: { SPANLINE_FLIGHT_RECORDER: 'on' } });
    const page = await open(`${url}#token=${TOKEN}`);
    await page.goto(`${url}#/traces/snapshots`);
    await page.getByRole('button', { name: `take a snapshot of process ${pid}`, exact: true }).click();
    await page.getByText('3 spans, 2 traces of the last').waitFor();
    await expectZones(page);
    await page.getByRole('link', { name: 'GET /waits' }).click();
    await page.getByRole('application', { name: `timeline of shop ${pid}` }).waitFor();
  });
});
