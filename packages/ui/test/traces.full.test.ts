// The list of traces in a real browser: the form keeps what is typed, pages go on, the scatter chooses by mouse, finger and key, two traces are
// compared, and hostile names stay text.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildFirst, scratch } from '../../../test/support/built.js';
import { Archive } from '../../archive/src/index.js';
import { accessibilityFaults } from './support/accessibility.js';
import { HOSTILE, makeTraces, tracesIn } from './support/archive.js';
import { hasBrowser, SIZES, sizesIn, useBrowser } from './support/browser.js';
import { useServer } from './support/served.js';

describe.skipIf(!hasBrowser)('the list of traces', () => {
  buildFirst();
  const dir = scratch();
  const serve = useServer();
  const { open, keepPicture, expectFaults } = useBrowser();
  let archive: Archive;
  let url: string;

  beforeAll(async () => {
    await makeTraces(tracesIn(dir));
    archive = await Archive.open(tracesIn(dir), { readOnly: true });
    url = await serve({ archive });
  });
  afterAll(() => archive.close());

  const parametersOf = (page: Page): URLSearchParams => new URLSearchParams(page.url().split('?')[1]);
  const names = (page: Page): Promise<string[]> => page.locator('table.traces tbody a').allTextContents();
  const search = (page: Page): Promise<void> => page.getByRole('button', { name: 'Search' }).click();
  const plot = (page: Page) => page.getByRole('application', { name: 'duration over time' });
  /** Wait for the list and for all points. */
  const loaded = async (page: Page, traces = 14): Promise<void> => {
    await page.getByText(`${traces} traces`).waitFor();
    await page.getByText('14 points').waitFor();
    await page.getByText('loading more').waitFor({ state: 'detached' });
  };

  test('what is found is sorted, and leads to its trace; the address holds the search', async () => {
    const page = await open(`${url}#/traces`);
    await loaded(page);
    await page.getByRole('button', { name: 'spans' }).click();
    expect((await names(page))[0]).toBe('import');
    await page.getByLabel('span name').fill('SELECT item');
    await search(page);
    await page.getByText('8 traces').waitFor();
    expect(parametersOf(page).get('name')).toBe('SELECT item');
    await keepPicture(page, 'traces');
    await page.reload();
    await page.getByText('8 traces').waitFor();
    expect(await page.getByLabel('span name').inputValue()).toBe('SELECT item');
    await page.locator('tbody tr a').first().click();
    await page.getByRole('heading', { name: 'GET /orders' }).first().waitFor();
  });

  test('typed text outlives the choice of a service and answers that come meanwhile', async () => {
    const page = await open(`${url}#/traces`);
    // Answers come when the test lets them.
    let release: (() => void)[] = [];
    await page.route('**/ui/api/traces?*', async (route) => {
      await new Promise<void>((resolve) => release.push(resolve));
      await route.continue();
    });
    await page.getByLabel('at least').fill('1ns');
    await search(page);
    await expect.poll(() => release.length).toBeGreaterThan(0);
    await page.getByLabel('span name').fill('GET /or');
    for (const one of release) one();
    release = [];
    await page.getByText('14 traces').waitFor();
    expect(await page.getByLabel('span name').inputValue()).toBe('GET /or');
    await page.getByLabel('service').selectOption('shop');
    expect(await page.getByLabel('span name').inputValue()).toBe('GET /or');
    // The names of the service are offered.
    await page.locator('datalist option[value="GET /orders"]').waitFor({ state: 'attached' });
    await page.getByLabel('span name').fill('GET /orders');
    await search(page);
    await expect.poll(() => release.length).toBeGreaterThan(0);
    for (const one of release) one();
    await page.getByText('12 traces').waitFor();
    expect([...parametersOf(page)]).toEqual([
      ['min', '1ns'],
      ['name', 'GET /orders'],
      ['service', 'shop'],
    ]);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.goBack();
    await expect.poll(() => page.getByLabel('span name').inputValue()).toBe('');
  });

  test('times, quoted properties and the length of the list; pages go on and back', async () => {
    const page = await open(`${url}#/traces`);
    await loaded(page);
    await page.getByLabel('from').fill('2h');
    await page.getByLabel('to', { exact: true }).fill('0s');
    await page.getByLabel('properties').fill(`hostile="${HOSTILE.replaceAll('"', '\\"')}"`);
    await search(page);
    await page.getByText('12 traces').waitFor();
    await page.getByLabel('from').fill('2024-01-01 00:00');
    await page.getByLabel('to', { exact: true }).fill('2024-01-02');
    await search(page);
    await page.getByText('No trace meets this').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await loaded(page);
    await page.goto(`${url}#/traces?limit=5`);
    await page.getByText('5 traces, the newest').waitFor();
    const seen = await names(page);
    // Until the next page is there, the one on the screen keeps its name.
    let release: (() => void) | undefined;
    await page.route('**/ui/api/traces?*', async (route) => {
      await new Promise<void>((resolve) => (release = resolve));
      await route.continue();
    });
    await page.getByRole('link', { name: 'Older' }).click();
    await page.locator('[aria-busy=true]').getByText('5 traces, the newest').waitFor();
    await expect.poll(() => release).toBeDefined();
    release?.();
    await page.getByText('5 traces, older ones').waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    seen.push(...(await names(page)));
    await page.getByRole('link', { name: 'Older' }).click();
    await page.getByText('4 traces', { exact: false }).waitFor();
    seen.push(...(await names(page)));
    expect(await page.getByRole('link', { name: 'Older' }).count()).toBe(0);
    expect(seen.sort()).toEqual((await archive.search({ limit: 100 })).map(({ name }) => name).sort());
    await page.getByRole('link', { name: 'Newest' }).click();
    await page.getByText('5 traces, the newest').waitFor();
  });

  test('bad input is said, and stays to be mended; so is a server that is gone', async () => {
    expectFaults();
    const page = await open(`${url}#/traces`);
    await loaded(page);
    await page.getByLabel('at least').fill('soon');
    await search(page);
    await page.getByRole('alert').getByText('the parameter min must be a duration').first().waitFor();
    expect(await page.getByLabel('at least').inputValue()).toBe('soon');
    await page.getByLabel('at least').fill('1ns');
    await search(page);
    await loaded(page);
    await page.route('**/ui/api/**', (route) => route.abort());
    await search(page);
    await page.getByLabel('span name').fill('x');
    await search(page);
    await page.getByText('the server does not answer').first().waitFor();
  });

  describe('the scatter', () => {
    const chosen = async (page: Page): Promise<string> => {
      await page.getByText('in the window').waitFor();
      return parametersOf(page).get('picked') ?? '';
    };

    test('a drag chooses what the list then shows', async () => {
      const page = await open(`${url}#/traces`);
      await loaded(page);
      const box = await plot(page).boundingBox();
      if (box === null) throw new Error('there is no plot');
      const [middle, right] = [box.x + 62 + (box.width - 70) / 2, box.x + box.width];
      await page.mouse.move(right - 2, box.y + 2);
      await page.mouse.down();
      await page.mouse.move(middle, box.y + 40, { steps: 3 });
      await page.getByText(/^\d+ traces, \d{4}-/).waitFor();
      await page.mouse.move(middle, box.y + box.height - 1, { steps: 3 });
      await page.mouse.up();
      // The later half of all: the axis has a margin at both ends.
      const [fromUs] = (await chosen(page)).split('-').map(Number);
      const all = await archive.search({ limit: 100 });
      const later = all.filter(({ startUnixNs }) => startUnixNs >= BigInt(fromUs) * 1000n);
      const [first, last] = [all[13], all[0]].map(({ startUnixNs }) => Number(startUnixNs / 1000n));
      expect(Math.abs(fromUs - (first + last) / 2)).toBeLessThan((last - first) / 100);
      expect(later.length).toBeLessThan(14);
      await page.getByText(`${later.length} traces`).first().waitFor();
      await page.getByText(`${later.length} in the window`).waitFor();
      expect(await names(page)).toEqual(later.map(({ name }) => name));
      await page.getByRole('button', { name: 'Show all' }).click();
      await page.getByText('in the window').waitFor({ state: 'detached' });
      expect(parametersOf(page).has('picked')).toBe(false);
    });

    test.each(['light', 'dark'] as const)('points are drawn in the colors of the theme %s', async (colorScheme) => {
      const page = await open(`${url}#/traces`, { colorScheme });
      await loaded(page);
      const counts = (await page.evaluate(`(() => {
        const canvas = document.querySelector('.scatter canvas');
        const context = canvas.getContext('2d');
        const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
        const pixels = new Uint32Array(data.buffer);
        return ['background', 'series-1', 'bad'].map((name) => {
          const probe = document.createElement('canvas').getContext('2d');
          probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--' + name);
          probe.fillRect(0, 0, 1, 1);
          const [wanted] = new Uint32Array(probe.getImageData(0, 0, 1, 1).data.buffer);
          return pixels.filter((one) => one === wanted).length / pixels.length;
        });
      })()`)) as number[];
      expect(counts[0]).toBeGreaterThan(0.9);
      expect(counts[1]).toBeGreaterThan(0);
      expect(counts[2]).toBeGreaterThan(0);
    });

    test('a window holds exactly the traces that the list shows', async () => {
      const [newest] = await archive.search({ name: 'GET /orders', limit: 1 });
      const at = Number(newest.startUnixNs / 1000n);
      const us = Number(newest.durationNs / 1000n);
      const page = await open(`${url}#/traces?picked=${at}-${at}-${us}-${us}`);
      await page.getByText('1 in the window').waitFor();
      await page.getByText('1 traces').waitFor();
      expect(await names(page)).toEqual(['GET /orders']);
      // By shape, the window still holds.
      await page.getByRole('link', { name: 'by shape' }).click();
      await page.getByText('1 shapes of 1 traces').waitFor();
    });

    test('a click opens a trace', async () => {
      const page = await open(`${url}#/traces?name=import`);
      await page.getByText('1 points').waitFor();
      const box = await plot(page).boundingBox();
      if (box === null) throw new Error('there is no plot');
      // The only point lies in the middle of its axis of time.
      const x = box.x + 62 + (box.width - 70) / 2;
      for (let y = box.y + box.height - 24; y > box.y + 8 && !page.url().includes('show'); y -= 8)
        await page.mouse.click(x, y);
      await page.getByRole('heading', { name: 'import' }).first().waitFor();
    });

    test('keys choose and open as well', async () => {
      const page = await open(`${url}#/traces`);
      await loaded(page);
      await plot(page).focus();
      for (let i = 0; i < 80; i++) await page.keyboard.press('ArrowLeft');
      for (let i = 0; i < 20; i++) await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Space');
      for (let i = 0; i < 80; i++) await page.keyboard.press('ArrowRight');
      for (let i = 0; i < 20; i++) await page.keyboard.press('ArrowDown');
      await page.getByText(/^14 traces, \d{4}-/).waitFor();
      await page.keyboard.press('Escape');
      expect(parametersOf(page).has('picked')).toBe(false);
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('Space');
      await page.keyboard.press('Shift+ArrowRight');
      await page.keyboard.press('Enter');
      await chosen(page);
      await page.getByRole('button', { name: 'Show all' }).click();
      await plot(page).focus();
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('Enter');
      await page.waitForURL(/traces\/show\?id=/);
    });

    test('it says what is loaded, can be stopped, and draws on', async () => {
      const page = await open(`${url}#/live`);
      await page.route('**/ui/api/traces/points?*', async (route) => {
        const { searchParams } = new URL(route.request().url());
        if (searchParams.has('before')) return;
        const response = await route.fetch({ url: route.request().url().replace('limit=4000', 'limit=6') });
        await route.fulfill({ response });
      });
      await page.goto(`${url}#/traces`);
      await page.getByText('6 points').waitFor();
      await page.getByText('loading more').waitFor();
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByText('6 points, not all').waitFor();
      await page.unrouteAll({ behavior: 'ignoreErrors' });
    });

    test('a finger that draws sideways chooses', async () => {
      const page = await open(`${url}#/traces`, { viewport: SIZES.narrow, hasTouch: true });
      await loaded(page);
      await plot(page).scrollIntoViewIfNeeded();
      const box = await plot(page).boundingBox();
      if (box === null) throw new Error('there is no plot');
      const session = await page.context().newCDPSession(page);
      const touch = (type: string, x: number, y: number) =>
        session.send('Input.dispatchTouchEvent', {
          type: type as 'touchStart',
          touchPoints: type === 'touchEnd' ? [] : [{ x, y }],
        });
      await touch('touchStart', box.x + 66, box.y + 20 + 66 / 3);
      for (let x = 70; x < box.width - 10; x += 20) await touch('touchMove', box.x + x, box.y + 20 + x / 3);
      await touch('touchEnd', 0, 0);
      await chosen(page);
    });
  });

  test('two traces are chosen in the list, or from a trace, and compared', async () => {
    const page = await open(`${url}#/traces?name=GET+%2Forders`);
    await page.getByText('12 traces').waitFor();
    const boxes = page.getByRole('checkbox');
    await boxes.nth(0).check();
    await page.getByText('1 of 2 chosen').waitFor();
    await boxes.nth(3).focus();
    await page.keyboard.press('Space');
    await page.getByRole('link', { name: 'Compare the two' }).click();
    await page.getByRole('cell', { name: 'SELECT orders' }).waitFor();
    // The names lead back to the traces.
    await page.getByRole('link', { name: 'GET /orders' }).first().click();
    await page.getByRole('heading', { name: 'GET /orders' }).first().waitFor();
    await page.getByRole('link', { name: 'Compare with another' }).click();
    await page.getByText('1 of 2 chosen').waitFor();
    await page.getByRole('checkbox', { name: /^compare import/ }).check();
    await page.getByRole('link', { name: 'Compare the two' }).click();
    await page.getByRole('cell', { name: /^batch/ }).waitFor();
  });

  test('a view that failed works again: by its button, and wherever one goes', async () => {
    const page = await open(`${url}#/live`);
    const failing = () =>
      page.route(/\/ui\/api\/traces(\?|$)/, (route) => route.fulfill({ json: { of: 'another version' } }));
    const failed = page.getByRole('alert').getByRole('heading', { name: 'That did not work' });
    await failing();
    await page.getByRole('navigation').getByRole('link', { name: 'Traces' }).click();
    await failed.waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await loaded(page);
    await failing();
    await page.goto(`${url}#/traces?min=1ns`);
    await failed.waitFor();
    await page.unrouteAll();
    await page.goto(`${url}#/traces?min=2ns`);
    await loaded(page);
  });

  test('a search that was ended by its bound says so, and goes on where one says', async () => {
    const [newest, ...older] = await archive.search({ limit: 100 });
    const next = `${older[0].startUnixNs}-${'0'.repeat(32)}`;
    const page = await open(`${url}#/live`);
    const asked: string[] = [];
    await page.route(/\/ui\/api\/traces(\/points)?(\?|$)/, async (route) => {
      const target = route.request().url();
      asked.push(target);
      if (new URL(target).searchParams.has('before')) return route.continue();
      const answer = await (await route.fetch()).json();
      const endedAtUs = Number(older[0].startUnixNs / 1000n);
      if (target.includes('points')) return route.fulfill({ json: { ...answer, next, endedAtUs } });
      return route.fulfill({ json: { traces: answer.traces.slice(0, 1), next, endedAtUs } });
    });
    await page.goto(`${url}#/traces`);
    await page.getByText('The search was ended').waitFor();
    await page.getByText('points, not all').waitFor();
    expect(await names(page)).toEqual([newest.name]);
    expect(asked.filter((one) => one.includes('points'))).toHaveLength(1);
    await page.getByRole('link', { name: 'Search on from there' }).click();
    await page.getByText(`${older.length} traces`).waitFor();
    expect((await names(page)).sort()).toEqual(older.map(({ name }) => name).sort());
  });

  test('a part that could not be loaded is loaded when it is tried again', async () => {
    expectFaults();
    const page = await open(`${url}#/traces`);
    await loaded(page);
    await page.route('**/assets/groups-*.js', (route) => route.abort());
    await page.getByRole('link', { name: 'by shape' }).click();
    await page.getByRole('heading', { name: 'That did not work' }).waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('5 shapes of 14 traces').waitFor();
  });

  test('hostile names and properties stay text', async () => {
    const page = await open(`${url}#/traces?status=error`);
    await page.getByText('1 points').waitFor();
    await page.getByRole('link', { name: HOSTILE }).click();
    await page.getByRole('complementary').getByText(`message`).waitFor();
    await page.getByRole('heading', { name: HOSTILE }).first().waitFor();
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await page.title()).toBe('Traces – spanline');
  });

  test('clean for axe-core in both themes, and no wider than a telephone', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const viewport of Object.values(sizesIn(colorScheme))) {
        const page = await open(`${url}#/traces`, { colorScheme, viewport });
        await loaded(page);
        expect(await accessibilityFaults(page)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
        await keepPicture(page, `traces-${colorScheme}-${viewport.width}`);
      }
    }
  });
});
