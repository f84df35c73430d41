// The plots of History in a browser: which line is which and what it is worth under the pointer, a plot a unit, marks of changes and clicks on them,
// single values, a zoom that a choice does not undo and that the address holds, two chosen commits, and a query that is typed without losing a letter.
import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { buildFirst, scratch } from '../../../test/support/built.js';
import { accessibilityFaults } from './support/accessibility.js';
import { COMMITS, decodeAt, encodeAt, HOSTILE, hashOf, makeBenchHistory, STEP_AT } from './support/bench-history.js';
import { hasBrowser, sizesIn, useBrowser } from './support/browser.js';
import { useServer } from './support/served.js';

const short = (commit: number): string => hashOf(commit).slice(0, 10);

/** Where commit `commit` of `count` lies in a plot that begins with `first`. */
const pointOf = async (plot: Locator, commit: number, first = 0, last = COMMITS - 1) => {
  const box = await plot.locator('.u-over').boundingBox();
  if (box === null) throw new Error('there is no plot');
  return { x: box.x + (box.width * (commit - first)) / (last - first), y: box.y + box.height * 0.6 };
};

/** In the page: resolves when the plots lie where they stay: in ten frames none has moved. What comes after the first drawing moves them. */
const SETTLED = `new Promise((resolve) => {
  let [last, same] = ['', 0];
  const look = () => {
    const now = JSON.stringify([...document.querySelectorAll('.plot .u-over')].map((plot) => plot.getBoundingClientRect()));
    same = now === last && now !== '[]' ? same + 1 : 0;
    last = now;
    if (same === 10) resolve();
    else requestAnimationFrame(look);
  };
  look();
})`;

const pointAt = async (page: Page, plot: Locator, commit: number, ...range: [first?: number, last?: number]) => {
  const { x, y } = await pointOf(plot, commit, ...range);
  await page.mouse.move(x, y);
};

/** The plot names the commit under the pointer, which a drawing that comes meanwhile forgets: then it is pointed at again. */
const seeAt = async (
  page: Page,
  plot: Locator,
  commit: number,
  ...range: [first?: number, last?: number]
): Promise<void> =>
  vi.waitFor(
    async () => {
      await page.evaluate(SETTLED);
      await page.mouse.move(0, 0);
      await pointAt(page, plot, commit, ...range);
      await plot.getByText(short(commit)).waitFor({ timeout: 2000 });
    },
    { timeout: 60_000 },
  );

const parametersOf = (page: Page): URLSearchParams => new URLSearchParams(new URL(page.url()).hash.split('?')[1]);

/** In the page: the columns of a canvas that have this CSS variable's color, in CSS pixels of the page. */
const COLUMNS = `(canvas, name) => {
  const probe = document.createElement('canvas').getContext('2d');
  probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  probe.fillRect(0, 0, 1, 1);
  const wanted = probe.getImageData(0, 0, 1, 1).data;
  const { width, height } = canvas;
  const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
  const left = canvas.getBoundingClientRect().left;
  const columns = new Set();
  for (let i = 0; i < data.length; i += 4) {
    const isWanted = [0, 1, 2].every((part) => Math.abs(data[i + part] - wanted[part]) < 8) && data[i + 3] > 200;
    if (isWanted) columns.add(left + ((i / 4) % width) / devicePixelRatio);
  }
  return [...columns];
}`;

const columnsOf = (page: Page, unit: string, variable: string): Promise<readonly number[]> =>
  page.evaluate(`(${COLUMNS})(document.querySelector('section[aria-label="${unit}"] canvas'), '${variable}')`);

/** In the page: types more when the address changes next, in that very moment. */
const TYPE_MORE = `
  const input = document.querySelector('input[type=search]');
  const typeMore = () => {
    input.value += 'codec';
    input.dispatchEvent(new Event('input', { bubbles: true }));
  };
  addEventListener('hashchange', typeMore, { once: true });
`;

describe.skipIf(!hasBrowser)('plots of History', () => {
  buildFirst();
  const { open, keepPicture, expectFaults } = useBrowser();
  const serve = useServer();
  const dir = scratch();
  let url: string;
  beforeAll(async () => {
    makeBenchHistory(dir);
    url = await serve({ history: dir });
  });

  const plotOf = (page: Page, unit: string): Locator => page.getByRole('region', { name: unit, exact: true });
  const openAt = async (hash: string): Promise<Page> => {
    const page = await open(`${url}#/history${hash}`);
    await page.locator('.plot canvas').first().waitFor();
    await page.waitForLoadState('networkidle');
    await page.evaluate(SETTLED);
    return page;
  };

  test('each unit has a plot of its own, a legend names the lines and their values under the pointer, markup stays text', async () => {
    const page = await openAt('');
    // Nothing is asked for, and all are few: the address says so.
    expect(parametersOf(page).get('all')).toBe('yes');
    await page.getByText('5 matches').waitFor();
    const units = page.locator('section.unit');
    expect(await units.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))).toEqual([
      'bytes',
      'ms',
      'ops/s',
    ]);
    const ms = plotOf(page, 'ms');
    const legend = ms.getByRole('list', { name: 'series in ms' });
    expect(await legend.getByRole('listitem').count()).toBe(2);
    expect(await ms.locator('.at-commit').innerText()).toContain(`newest commit ${short(COMMITS - 1)} 2026-03-01`);
    await seeAt(page, ms, 12);
    expect(await legend.getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/^bench=decode.*80\.28 ms$/s),
      expect.stringMatching(/^bench=encode.*100\.28 ms$/s),
    ]);
    expect([decodeAt(12), encodeAt(12)]).toEqual([80.28, 100.28]);
    // All plots have one cursor.
    await plotOf(page, 'ops/s').getByText(short(12)).waitFor();
    // A single value is a point: a line would show nothing.
    expect((await columnsOf(page, 'bytes', '--series-1')).length).toBeGreaterThan(2);
    await plotOf(page, 'bytes').getByText(HOSTILE.replaceAll('=', '_')).first().waitFor();
    expect(await page.title()).not.toBe('taken');
    expect(await page.locator('main img').count()).toBe(0);
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const [size, viewport] of Object.entries(sizesIn(colorScheme))) {
        const seen = await open(page.url(), { colorScheme, viewport });
        await seen.locator('.plot canvas').first().waitFor();
        expect(await accessibilityFaults(seen)).toEqual([]);
        expect(await seen.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
        await keepPicture(seen, `history-files-${colorScheme}-${size}`);
      }
    }
  });

  test('a change is marked where it is, a click on the mark shows it, and people may judge it', async () => {
    const page = await openAt('?query=unit%3Dms');
    const ms = plotOf(page, 'ms');
    const { x, y } = await pointOf(ms, STEP_AT);
    const isMarkedAt = (columns: readonly number[]): boolean =>
      columns.length > 0 && columns.every((column) => Math.abs(column - x) <= 3);
    await expect.poll(async () => isMarkedAt(await columnsOf(page, 'ms', '--bad'))).toBe(true);
    await page.mouse.click(x + 5, y);
    await page.getByRole('heading', { name: /\+2\d\.\d % at/ }).waitFor();
    expect(parametersOf(page).get('step')).toBe(short(STEP_AT));
    await page.getByText('1 commit that may have made it').waitFor();
    await page.getByLabel('note').fill('the new parser');
    await page.getByRole('button', { name: 'It is real' }).click();
    await page
      .locator('.step')
      .getByText(/positive by .*: the new parser/)
      .waitFor();
  });

  test('a drag zooms, the address holds it, and neither a choice nor a reload undoes it', async () => {
    const page = await openAt('?query=unit%3Dms');
    const ms = plotOf(page, 'ms');
    await page.evaluate(SETTLED);
    const [from, to] = [await pointOf(ms, 20), await pointOf(ms, 40)];
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 5 });
    await page.mouse.up();
    await expect.poll(() => parametersOf(page).get('zoom')).toMatch(/^[0-9a-f]{10}\.\.[0-9a-f]{10}$/);
    const zoom = parametersOf(page).get('zoom') as string;
    const [first, last] = zoom.split('..').map((hash) => Number.parseInt(hash.slice(0, 2), 16) - 16);
    expect([Math.abs(first - 20) <= 1, Math.abs(last - 40) <= 1]).toEqual([true, true]);
    const seesZoom = (seen: Page): Promise<void> => seeAt(seen, plotOf(seen, 'ms'), STEP_AT, first, last);
    await seesZoom(page);
    await page.keyboard.press('j');
    await page.getByText('1 commit that may have made it').waitFor();
    expect(parametersOf(page).get('zoom')).toBe(zoom);
    await seesZoom(page);
    const again = await open(page.url());
    await again.locator('.plot canvas').waitFor();
    await seesZoom(again);
    // Keys do it too, and a double click shows all.
    await again.keyboard.press('-');
    await expect.poll(() => parametersOf(again).get('zoom')).not.toBe(zoom);
    await again.keyboard.press('0');
    await expect.poll(() => parametersOf(again).get('zoom')).toBe(null);
    await seeAt(again, plotOf(again, 'ms'), STEP_AT);
    await again.goBack();
    await page.mouse.dblclick(to.x, to.y);
    await expect.poll(() => parametersOf(page).get('zoom')).toBe(null);
  });

  test('two commits are chosen by clicks or by typing, and what lies between them is shown', async () => {
    const page = await openAt('?query=unit%3Dms');
    const ms = plotOf(page, 'ms');
    for (const commit of [45, 12]) {
      await seeAt(page, ms, commit);
      const { x, y } = await pointOf(ms, commit);
      await page.mouse.click(x, y);
    }
    await page.getByRole('heading', { name: `33 commits after ${short(12)}, up to ${short(45)}` }).waitFor();
    expect(parametersOf(page).get('a')).toBe(short(45));
    expect(
      await page.getByRole('region', { name: 'Values before and after' }).getByRole('row').nth(1).innerText(),
    ).toContain('encode');
    await page.getByLabel('to', { exact: true }).fill(short(20));
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('heading', { name: `25 commits after ${short(20)}, up to ${short(45)}` }).waitFor();
    await page.getByLabel('to', { exact: true }).fill('0000');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('No commit that is drawn begins with 0000').waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: `25 commits after ${short(20)}` }).waitFor();
    expect(await page.getByLabel('to', { exact: true }).inputValue()).toBe(short(20));
  });

  test('a query that is typed slowly keeps all its letters and adds no step to go back', async () => {
    const page = await openAt('?query=unit%3Dms');
    const field = page.getByRole('searchbox', { name: 'query' });
    await field.fill('');
    await expect.poll(() => parametersOf(page).get('all')).toBe('yes');
    const before = await page.evaluate('history.length');
    // Half a query cannot be read.
    expectFaults();
    const query = 'bench=encode&unit=ms';
    await field.pressSequentially(query, { delay: 30 });
    await expect.poll(() => parametersOf(page).get('query')).toBe(query);
    // More is typed in the very moment in which what was typed goes to the address.
    await page.evaluate(TYPE_MORE);
    await field.pressSequentially('&file=');
    await expect.poll(() => parametersOf(page).get('query')).toBe(`${query}&file=codec`);
    expect(await field.inputValue()).toBe(`${query}&file=codec`);
    expect(await page.evaluate('history.length')).toBe(before);
    await page.getByText('1 match').waitFor();
    // A click is a step, and going back takes it out of the field too.
    await page.locator('summary', { hasText: 'metric' }).click();
    await page.getByRole('button', { name: 'latency' }).click();
    await expect.poll(() => field.inputValue()).toContain('metric=latency');
    await page.goBack();
    await expect.poll(() => field.inputValue()).toBe(`${query}&file=codec`);
    // What cannot be read is told, and the keys stay.
    await field.fill('bench');
    await page.getByText('has no "="').first().waitFor();
    expect(await page.locator('summary', { hasText: 'metric' }).count()).toBe(1);
  });
});
