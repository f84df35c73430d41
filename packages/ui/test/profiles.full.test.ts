// The view Profiles in a real browser on real profiles: flame graph by label with mouse and keys, table, difference, the way from a trace to its
// samples and back, a file for speedscope behind a token, and labels that would be markup.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildFirst, scratch } from '../../../test/support/built.js';
import { Archive } from '../../archive/src/archive.js';
import { readProfile } from '../../profile/src/output/read-profile.js';
import { accessibilityFaults } from './support/accessibility.js';
import { hasBrowser, savedBy, sizesIn, useBrowser } from './support/browser.js';
import { useServer } from './support/served.js';
import { AFTER, BEFORE, HOSTILE, makeShopProfiles } from './support/shop-profiles.js';

const at = (parameters: Record<string, string>): string => `#/profiles?${new URLSearchParams(parameters)}`;

describe.skipIf(!hasBrowser)('the view Profiles', () => {
  buildFirst();
  const dir = scratch();
  const { open, keepPicture } = useBrowser();
  const serve = useServer();
  let url: string;
  let profiles: string;
  let archive: Archive;

  beforeAll(async () => {
    const made = await makeShopProfiles(dir);
    profiles = made.profiles;
    archive = await Archive.open(made.archive, { readOnly: true });
    url = await serve({ profiles, archive });
    return () => archive.close();
  }, 120_000);

  const details = (page: Page) => page.locator('#flame-details');
  /** How many colors the canvas has: one when nothing is drawn. */
  const colors = (page: Page): Promise<number> =>
    page.evaluate(`(() => {
      const canvas = document.querySelector('canvas.flame');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    })()`);

  test('every way of looking fits both sizes and themes, and is accessible', async () => {
    const ways = {
      flame: at({ name: AFTER, by: 'query', value: HOSTILE }),
      table: at({ name: AFTER, by: 'query', look: 'table' }),
      changes: at({ name: AFTER, before: BEFORE, by: 'query', look: 'table' }),
      difference: at({ name: AFTER, before: BEFORE }),
    };
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const [size, viewport] of Object.entries(sizesIn(colorScheme))) {
        for (const [name, hash] of Object.entries(ways)) {
          const page = await open(url + hash, { colorScheme, viewport });
          await page.locator('canvas.flame, table.labels').first().waitFor();
          expect(await accessibilityFaults(page)).toEqual([]);
          expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
          if (name === 'flame' || name === 'difference') expect(await colors(page)).toBeGreaterThan(4);
          // Hostile labels are shown, as text.
          if (name !== 'difference') await page.getByText(HOSTILE).first().waitFor();
          expect(await page.evaluate('window.isHacked')).toBeUndefined();
          await keepPicture(page, `profiles-${name}-${colorScheme}-${size}`);
          await page.context().close();
        }
      }
    }
  });

  test('keys walk the graph and zoom; the address holds it all', async () => {
    const page = await open(url + at({ name: AFTER, by: 'query', value: 'select 1' }));
    await page.locator('canvas.flame').focus();
    await details(page).getByText('all').waitFor();
    const name = details(page).locator('strong');
    // The dearest callees down to the end: the function that the label was set for.
    for (let i = 0; i < 40 && (await name.textContent()) !== 'parseRows'; i++) await page.keyboard.press('ArrowDown');
    expect(await name.textContent()).toBe('parseRows');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Show all' }).waitFor();
    expect(new URL(page.url()).hash).toMatch(/zoom=\d+/);
    await page.reload();
    await details(page).getByText('parseRows').waitFor();
    await page.keyboard.press('0');
    await page.getByRole('button', { name: 'Show all' }).waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await page.keyboard.type('parserows');
    await page.getByText('of the time is in or under them').waitFor();
    expect(new URL(page.url()).hash).toContain('search=parserows');
    await page.goBack();
    await page.getByRole('button', { name: 'Show all' }).waitFor();
  });

  test('a click selects, a double click zooms, callers first turns it round', async () => {
    const page = await open(url + at({ name: AFTER, by: 'query', value: 'select 1', inverted: 'true' }));
    const canvas = page.locator('canvas.flame');
    // Below the root, the function with the most time of its own: parseRows, or the caller into which V8 inlined it.
    const functions = page.getByText('Functions by their own time').locator('..');
    const dearest = String(await functions.locator('button').first().textContent());
    await canvas.click({ position: { x: 60, y: 28 } });
    await details(page).locator('strong').getByText(dearest, { exact: true }).waitFor();
    await canvas.dblclick({ position: { x: 60, y: 28 } });
    await page.getByRole('button', { name: 'Show all' }).waitFor();
    await page.getByRole('button', { name: 'Callers first' }).click();
    await page.getByRole('button', { name: 'Show all' }).waitFor({ state: 'detached' });
    expect(new URL(page.url()).hash).not.toContain('inverted');
  });

  test('from the table to the samples of a label, and to all again', async () => {
    const page = await open(url + at({ look: 'table' }));
    await page.getByLabel('by label').selectOption('query');
    await page.getByRole('link', { name: 'select 1', exact: true }).click();
    await page.locator('canvas.flame').waitFor();
    await page.getByText('query = select 1').waitFor();
    await page.getByText('Functions by their own time').click();
    await page.getByRole('button', { name: 'parseRows' }).waitFor();
    await page.getByRole('button', { name: 'All samples' }).click();
    await page.getByText('query = select 1').waitFor({ state: 'detached' });
  });

  test('from a trace to its samples, and back', async () => {
    const { labels } = await readProfile(readFileSync(join(profiles, AFTER)));
    const traceId = String(labels.find(({ trace_id }) => trace_id !== undefined)?.trace_id);
    const page = await open(url + at({ trace: traceId }));
    await page.getByRole('link', { name: AFTER }).click();
    await page.getByText(`trace_id = ${traceId}`).waitFor();
    await page.locator('canvas.flame').waitFor();
    const back = page.getByRole('link', { name: 'show the trace' });
    expect(await back.getAttribute('href')).toBe(`#/traces/show?id=${traceId}`);
    await page.goto(`${url}${at({ trace: 'abc' })}`);
    await page.getByText('No profile has a sample of this trace').waitFor();
  });

  test('from a span in the waterfall to its samples, and back', async () => {
    const { labels } = await readProfile(readFileSync(join(profiles, AFTER)));
    const label = labels.find(({ span_id }) => span_id !== undefined);
    const [traceId, spanId] = [String(label?.trace_id), String(label?.span_id)];
    const page = await open(`${url}#/traces/show?id=${traceId}`);
    const details = page.getByRole('complementary');
    await details.getByText(/^CPU \d.* ± .* itself, \d+ % of its self time;/).waitFor();
    await page.getByRole('list', { name: 'legend' }).getByText('CPU while the span was current').waitFor();
    const line = () =>
      page.evaluate(`(() => {
        const canvas = document.querySelector('.rows canvas');
        const { data } = canvas.getContext('2d').getImageData(0, Math.round(3 * devicePixelRatio), canvas.width, 1);
        const colors = new Set();
        for (let i = 0; i < data.length; i += 4) colors.add([...data.slice(i, i + 3)].join());
        return [...colors];
      })()`);
    // The color of warnings, for nothing else is drawn there; it is drawn in a frame after the legend is there.
    await expect.poll(line).toContain('138,75,0');
    await keepPicture(page, 'trace-cpu');
    await details.getByRole('link', { name: 'samples' }).click();
    await page.getByRole('heading', { name: `CPU time of span ${spanId}` }).waitFor();
    expect(await page.locator('tbody tr').count()).toBe(1);
    await page.getByRole('link', { name: spanId, exact: true }).click();
    await page.getByText(`span_id = ${spanId}`).waitFor();
    await page.locator('canvas.flame').waitFor();
    await page.getByRole('link', { name: 'show the span' }).click();
    await page.waitForURL(new RegExp(`traces/show\\?id=${traceId}&span=${spanId}`));
    await details.getByText('of its self time').waitFor();
    await page.goto(`${url}${at({ trace: traceId, span: '0'.repeat(16) })}`);
    await page.getByText('No profile has a sample of this span').waitFor();
  });

  test('saved for speedscope, also behind a token', async () => {
    const guarded = await serve({ profiles }, { token: 'a-long-token' });
    const page = await open(`${guarded}#token=a-long-token`);
    await page.getByRole('link', { name: 'Profiles' }).click();
    const [name, bytes] = await savedBy(page, 'Save for speedscope');
    expect(name).toBe(`${AFTER}.speedscope.json`);
    const { profiles: saved, shared } = JSON.parse(bytes.toString());
    // One for all samples, then one a label.
    expect(saved.length).toBeGreaterThan(1);
    expect(shared.frames.map((frame: { name: string }) => frame.name)).toContain('parseRows');
    expect(await page.evaluate('window.isHacked')).toBeUndefined();
  });
});
