// Groups of one shape and comparisons in a browser.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildFirst, scratch } from '../../../test/support/built.js';
import { Archive } from '../../archive/src/index.js';
import { accessibilityFaults } from './support/accessibility.js';
import { HOSTILE, makeTraces, tracesIn } from './support/archive.js';
import { hasBrowser, sizesIn, useBrowser } from './support/browser.js';
import { useServer } from './support/served.js';

buildFirst();
const dir = scratch();
const serve = useServer();
let archive: Archive;
let url: string;

beforeAll(async () => {
  await makeTraces(tracesIn(dir));
  archive = await Archive.open(tracesIn(dir), { readOnly: true });
  url = await serve({ archive });
});
afterAll(() => archive.close());

describe.skipIf(!hasBrowser)('pages', () => {
  const { open, keepPicture } = useBrowser();

  test('two groups are chosen and compared, by key too', async () => {
    const page = await open(`${url}#/traces/groups`);
    await page.getByText('5 shapes of 14 traces').waitFor();
    const boxes = page.getByRole('checkbox', { name: /compare GET/ });
    await boxes.nth(0).focus();
    await page.keyboard.press('Space');
    await boxes.nth(1).check();
    await keepPicture(page, 'groups');
    await page.getByRole('link', { name: 'Compare the two' }).click();
    await page.getByRole('cell', { name: 'SELECT item' }).waitFor();
    expect(await page.evaluate('document.title')).toBe('Traces – spanline');
    await keepPicture(page, 'compare');
  });

  test('both are clean in both themes, fit a narrow screen, and a name is never markup', async () => {
    const [order, failed] = await Promise.all([
      archive.search({ name: 'GET /orders' }),
      archive.search({ name: HOSTILE }),
    ]);
    const compared = `a=trace:${order[0].traceId}&b=trace:${failed[0].traceId}`;
    for (const colorScheme of ['light', 'dark'] as const)
      for (const viewport of Object.values(sizesIn(colorScheme)))
        for (const place of ['groups', `compare?${compared}`]) {
          const page = await open(`${url}#/traces/${place}`, { colorScheme, viewport });
          await page.getByText(HOSTILE).first().waitFor();
          expect(await accessibilityFaults(page)).toEqual([]);
          expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
          expect(await page.evaluate('document.title')).toBe('Traces – spanline');
        }
  });
});
