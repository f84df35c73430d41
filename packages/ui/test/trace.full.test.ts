// One trace in a real browser: selecting, zooming and moving by key, mouse, wheel, finger and button; search, links, timelines and their names; what is taken
// along; and what a trace of too many spans leaves out.
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { decodePerfetto } from '../../../test/formats/support/perfetto-decode.js';
import { buildFirst, scratch } from '../../../test/support/built.js';
import { Archive } from '../../archive/src/index.js';
import { span, spanIdOf } from '../../archive/test/segment/support/segments.js';
import { accessibilityFaults } from './support/accessibility.js';
import { makeTraces, tracesIn } from './support/archive.js';
import { hasBrowser, SIZES, savedBy, sizesIn, useBrowser } from './support/browser.js';
import {
  ABSENT,
  ABSENT_SPAN,
  CART,
  JOB,
  LINKING,
  makeCart,
  QUERY,
  RENDER,
  REPORT,
  ROOT,
  SELECT,
} from './support/cart.js';
import { useServer } from './support/served.js';

describe.skipIf(!hasBrowser)('one trace', () => {
  buildFirst();
  const dir = scratch();
  const serve = useServer();
  const { open, keepPicture, expectFaults } = useBrowser();
  let archive: Archive;
  let url: string;

  beforeAll(async () => {
    await makeCart(dir);
    archive = await Archive.open(dir, { readOnly: true });
    url = await serve({ archive });
  });
  afterAll(() => archive.close());

  const rows = (page: Page) => page.getByRole('application', { name: 'spans by time' });
  const details = (page: Page) => page.getByRole('complementary');
  const isSelected = (page: Page, name: string): Promise<void> =>
    details(page).getByRole('heading', { name, exact: true }).waitFor();
  const openCart = async (more = '', options = {}): Promise<Page> => {
    const page = await open(`${url}#/traces/show?id=${CART}${more}`, options);
    await details(page).getByText('Resource').waitFor();
    return page;
  };
  /** What is in sight, as the page says it. */
  const sight = async (page: Page): Promise<string> =>
    (await page.getByText(/ of 100 ms, \d+ rows/).textContent())?.split(' of ')[0] ?? '';
  const boxOf = async (locator: ReturnType<Page['locator']>) => {
    const box = await locator.boundingBox();
    if (box === null) throw new Error('it is not in sight');
    return box;
  };
  /** The pixel of the page at which a moment of a row lies while the whole trace is in sight. */
  const pixel = async (page: Page, row: number, ms: number): Promise<readonly [x: number, y: number]> => {
    const { x, y, width } = await boxOf(rows(page).locator('canvas'));
    const left = Math.round(Math.min(360, width * 0.4));
    return [x + left + ((width - left - 8) * ms) / 100, y + row * 20 + 10];
  };

  describe('selecting', () => {
    test('by key, click and address; self time and critical path are said', async () => {
      const page = await openCart();
      await isSelected(page, 'GET /cart');
      await details(page)
        .getByText('100 ms, 100 % of the trace; self 5.00 ms; began at 0.00 µs; on the critical path')
        .waitFor();
      await page.keyboard.press('End');
      await isSelected(page, 'render');
      await page.keyboard.press('ArrowUp');
      await isSelected(page, 'SELECT');
      await expect.poll(() => page.url()).toContain(`span=${SELECT}`);
      await page.keyboard.press('ArrowLeft');
      await isSelected(page, 'query');
      await details(page).getByText('self 10.0 ms').waitFor();
      await page.mouse.click(...(await pixel(page, 4, 70)));
      await isSelected(page, 'render');
      await expect.poll(() => page.url()).toContain(`span=${RENDER}`);
      await page.reload();
      await isSelected(page, 'render');
      await details(page).getByText('Ada Lovelace').waitFor();
      await details(page).getByText('error: the template is broken').waitFor();
      await page.evaluate(`location.hash = ${JSON.stringify(`#/traces/show?id=${CART}&span=${QUERY}`)}`);
      await isSelected(page, 'query');
      await keepPicture(page, 'trace');
    });

    test('a held key asks and writes the address once it is let go', async () => {
      await using large = await Archive.open(scratch()).then((made) => ({
        made,
        [Symbol.asyncDispose]: () => made.close(),
      }));
      const id = 'e'.repeat(32);
      large.made.append(
        Array.from({ length: 300 }, (_, i) =>
          span({ traceId: id, spanId: spanIdOf(i + 1), parentSpanId: i === 0 ? '' : spanIdOf(1), name: `row ${i}` }),
        ),
      );
      const page = await open(`${await serve({ archive: large.made })}#/traces/show?id=${id}`);
      await isSelected(page, 'row 0');
      await details(page).getByText('Resource').waitFor();
      const asked: string[] = [];
      page.on('request', (request) => request.url().includes('/api/') && asked.push(request.url()));
      // The page's clock stands still while the key is held, however long the test takes for it.
      await page.clock.install();
      await page.clock.pauseAt(Date.now() + 60_000);
      await page.evaluate(`
        window.writes = 0;
        const replace = history.replaceState.bind(history);
        history.replaceState = (...given) => { window.writes++; replace(...given); };
      `);
      for (let i = 0; i < 60; i++) await page.keyboard.press('ArrowDown');
      expect(asked).toEqual([]);
      await page.clock.resume();
      await expect.poll(() => page.url()).toMatch(/span=/);
      const selected = await details(page).getByRole('heading').first().textContent();
      await details(page).getByText('Resource').waitFor();
      expect(selected).toBe('row 60');
      expect(asked).toEqual([expect.stringContaining(`span=${spanIdOf(61)}`)]);
      expect(await page.evaluate('window.writes')).toBe(1);
    });

    test('names of properties break between words, and what is too long is cut', async () => {
      await using made = await Archive.open(scratch()).then((opened) =>
        Object.assign(opened, { [Symbol.asyncDispose]: () => opened.close() }),
      );
      const long = 'x'.repeat(60);
      const keys = [
        'http.response.status_code',
        'messaging.destination.partition.id',
        'network.protocol.version',
        long,
      ];
      made.append([span({ properties: Object.fromEntries(keys.map((key) => [key, key])) })]);
      const url = await serve({ archive: made });
      for (const viewport of Object.values(SIZES)) {
        const page = await open(`${url}#/traces/show?id=${span().traceId}`, { viewport });
        await details(page).getByText('Resource').waitFor();
        // What of a name stands in one line: the places of its characters tell.
        const lines = await page.evaluate<string[][]>(`[...document.querySelectorAll('.pairs dt')].map((dt) => {
          const lines = [];
          const walker = document.createTreeWalker(dt, NodeFilter.SHOW_TEXT);
          let last;
          for (let node = walker.nextNode(); node; node = walker.nextNode())
            for (let i = 0; i < node.length; i++) {
              const range = document.createRange();
              range.setStart(node, i);
              range.setEnd(node, i + 1);
              const { top } = range.getBoundingClientRect();
              if (top !== last) lines.push('');
              last = top;
              lines[lines.length - 1] += node.data[i];
            }
          return lines;
        })`);
        expect(lines.slice(0, keys.length).map((parts) => parts.join(''))).toEqual(keys);
        for (const parts of lines) for (const part of parts.slice(0, -1)) expect(part).toMatch(/[._]$/);
        expect(lines.flat().length).toBeGreaterThan(keys.length);
        const cut = await page.evaluate(
          `(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('[title="${long}"]'))`,
        );
        expect(cut).toBe(true);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      }
    });

    test('a span that is absent is said to be', async () => {
      const page = await openCart(`&span=${ABSENT_SPAN}`);
      await page.getByText(`This trace has no span ${ABSENT_SPAN}`).waitFor();
      await page.keyboard.press('ArrowDown');
      await page.getByText('This trace has no span').waitFor({ state: 'detached' });
    });

    test('what has the focus and scrolls keeps its keys', async () => {
      const page = await openCart(`&span=${RENDER}`);
      await isSelected(page, 'render');
      await details(page).getByText('Ada Lovelace').waitFor();
      await details(page).focus();
      await page.keyboard.press('PageDown');
      await expect.poll(() => details(page).evaluate((element) => element.scrollTop)).toBeGreaterThan(0);
      await page.keyboard.press('ArrowUp');
      await isSelected(page, 'render');
      await rows(page).focus();
      await page.keyboard.press('ArrowUp');
      await isSelected(page, 'SELECT');
    });
  });

  describe('zooming and moving', () => {
    test('by key', async () => {
      const page = await openCart();
      expect(await sight(page)).toBe('0.00 µs to 100 ms');
      await page.keyboard.press('+');
      await expect.poll(() => sight(page)).toBe('25.0 ms to 75.0 ms');
      await page.keyboard.press(']');
      await expect.poll(() => sight(page)).toBe('37.5 ms to 87.5 ms');
      for (let i = 0; i < 9; i++) await page.keyboard.press('[');
      await expect.poll(() => sight(page)).toBe('0.00 µs to 50.0 ms');
      await page.keyboard.press('-');
      await expect.poll(() => sight(page)).toBe('0.00 µs to 100 ms');
      await page.keyboard.press('End');
      await isSelected(page, 'render');
      await page.keyboard.press('z');
      await expect.poll(() => sight(page)).toBe('60.0 ms to 95.0 ms');
      await page.keyboard.press('0');
      await expect.poll(() => sight(page)).toBe('0.00 µs to 100 ms');
    });

    test('by wheel, around the pointer, and by drag, which selects nothing', async () => {
      const page = await openCart();
      await page.mouse.move(...(await pixel(page, 1, 40)));
      await page.keyboard.down('Control');
      await page.mouse.wheel(0, -100);
      await page.keyboard.up('Control');
      // Four fifths of it, and 40 ms where it was, as near as pixels are.
      await expect.poll(() => sight(page)).toMatch(/^(7.9\d|8.0\d) ms to 88.0 ms$/);
      await page.keyboard.down('Shift');
      await page.mouse.wheel(0, 100);
      await page.keyboard.up('Shift');
      await expect.poll(() => sight(page)).toBe('18.0 ms to 98.0 ms');
      const [x, y] = await pixel(page, 4, 30);
      const [to] = await pixel(page, 4, 40);
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(to, y, { steps: 4 });
      await page.mouse.up();
      // A tenth of the width to the right: as much earlier.
      await expect.poll(() => sight(page)).toMatch(/^(9.99|10.0) ms to 90.0 ms$/);
      await isSelected(page, 'GET /cart');
    });

    test('by buttons and fingers on a telephone', async () => {
      const page = await openCart('', { viewport: SIZES.narrow, hasTouch: true });
      await page.getByRole('button', { name: 'zoom in' }).tap();
      await expect.poll(() => sight(page)).toBe('25.0 ms to 75.0 ms');
      await page.getByRole('button', { name: 'later' }).tap();
      await page.getByRole('button', { name: 'earlier' }).tap();
      await page.getByRole('button', { name: 'zoom out' }).tap();
      await expect.poll(() => sight(page)).toBe('0.00 µs to 100 ms');
      await rows(page).scrollIntoViewIfNeeded();
      const session = await page.context().newCDPSession(page);
      const touch = (type: string, ...points: readonly (readonly [number, number])[]) =>
        session.send('Input.dispatchTouchEvent', {
          type: type as 'touchStart',
          touchPoints: points.map(([x, y], id) => ({ x, y, id })),
        });
      const [[middle, y], [left], [right]] = await Promise.all([50, 40, 60].map((ms) => pixel(page, 3, ms)));
      const reach = middle - left;
      await touch('touchStart', [left, y], [right, y]);
      for (let i = 1; i <= 10; i++)
        await touch('touchMove', [left - (reach * i) / 10, y], [right + (reach * i) / 10, y]);
      await touch('touchEnd');
      // Twice as far apart: half of the time, around the middle.
      await expect.poll(() => sight(page)).toMatch(/^2\d\.\d ms to 7\d\.\d ms$/);
      await page.getByRole('button', { name: 'Whole time' }).tap();
      await page.touchscreen.tap(...(await pixel(page, 3, 30)));
      await isSelected(page, 'SELECT');
      await page.getByRole('button', { name: 'To the span' }).tap();
      await expect.poll(() => sight(page)).toBe('15.0 ms to 55.0 ms');
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    });
  });

  test('what is pointed at is told', async () => {
    const page = await openCart();
    await page.mouse.move(...(await pixel(page, 3, 30)));
    const tooltip = page.locator('.tooltip');
    await tooltip.getByText('SELECT').waitFor();
    expect(await tooltip.textContent()).toContain('db · 40.0 ms from 15.0 ms');
    await page.mouse.move(5, 5);
    await tooltip.waitFor({ state: 'detached' });
    expect(await page.getByRole('list', { name: 'legend' }).allTextContents()).toEqual([
      expect.stringMatching(/shop.*db.*failed.*critical path.*has links/s),
    ]);
  });

  test('bars, the critical path and the ruler are drawn', async () => {
    const page = await openCart(`&span=${SELECT}`);
    const [x, y] = await pixel(page, 4, 80);
    const box = await boxOf(rows(page).locator('canvas'));
    const colors = (await page.evaluate(`(async () => {
      const canvas = document.querySelector('.rows canvas');
      const context = canvas.getContext('2d');
      const hex = (x, y) => '#' + [...context.getImageData(x, y, 1, 1).data.slice(0, 3)].map((one) => one.toString(16).padStart(2, '0')).join('');
      const [x, y] = [${x - box.x}, ${y - box.y}].map((one) => Math.round(one * devicePixelRatio));
      const ruler = document.querySelector('.waterfall .plot > canvas');
      const { data } = ruler.getContext('2d').getImageData(0, 0, ruler.width, ruler.height);
      return { bar: hex(x, y), path: hex(x, y + Math.round(6.5 * devicePixelRatio)), ruled: new Set(new Uint32Array(data.buffer)).size };
    })()`)) as { bar: string; path: string; ruled: number };
    // Red, for it failed, with the color of text below.
    expect(colors.bar).toBe('#b3161b');
    expect(colors.path).toBe('#1c2128');
    expect(colors.ruled).toBeGreaterThan(2);
  });

  test('search goes through names, properties and events', async () => {
    const page = await openCart();
    await page.keyboard.press('/');
    await page.keyboard.type('ada love');
    await page.getByText('1 found', { exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await isSelected(page, 'render');
    await page.getByRole('searchbox').fill('e');
    await page.getByText('5 found', { exact: true }).waitFor();
    await rows(page).focus();
    await page.keyboard.press('n');
    await isSelected(page, 'GET /cart');
    await page.keyboard.press('N');
    await isSelected(page, 'render');
  });

  describe('links', () => {
    test('to other traces, to absent ones, within the trace, and from others', async () => {
      expectFaults();
      const page = await openCart();
      const list = page.locator('details.links');
      // Once all links are known it stays as it is.
      const openList = async (): Promise<void> => {
        await page.getByText('3 links out, 2 in').waitFor();
        if ((await list.getAttribute('open')) === null) await list.locator('summary').click();
      };
      await openList();
      await list.getByRole('button', { name: `span ${QUERY} of this trace` }).click();
      await isSelected(page, 'query');
      await list.getByText(`span ${ABSENT_SPAN}, which this trace does not have`).waitFor();
      // The selection is not in the address yet, and is not to come there once somebody goes on: the answer takes longer than it would.
      await page.route(`**/ui/api/trace?*${JOB}*`, async (route) => {
        await page.waitForTimeout(500);
        await route.continue();
      });
      const link = await list.getByRole('link', { name: 'job · mail' }).first().elementHandle();
      const select = list.locator('li button').first();
      await select.evaluate((button, other) => {
        for (const one of [button, other]) (one as unknown as { click(): void }).click();
      }, link);
      await page.getByRole('heading', { name: 'job' }).first().waitFor();
      await isSelected(page, 'mail');
      expect(page.url()).toContain(`id=${JOB}&span=${LINKING}`);
      // And back, by the link of the span.
      await details(page).getByRole('link', { name: CART }).first().click();
      await isSelected(page, 'query');
      await page.goBack();
      await isSelected(page, 'mail');
      await details(page).getByRole('link', { name: CART }).nth(1).click();
      await page.getByText(`This trace has no span ${ABSENT_SPAN}`).waitFor();
      await openList();
      await list.getByRole('link', { name: ABSENT }).click();
      await page.getByRole('alert').getByText(`there is no trace ${ABSENT}`).waitFor();
    });
  });

  describe('timelines', () => {
    const timeline = (page: Page) => page.getByRole('application', { name: 'timeline of shop 4711' });
    const reported = (page: Page) => page.locator('.timeline', { has: timeline(page) }).locator('.shown');

    test('a stretch tells who had the loop, and a click leads there', async () => {
      const page = await openCart();
      await page
        .getByRole('region', { name: 'where the time of the trace went' })
        .getByText('the loop had others')
        .waitFor();
      const canvas = await boxOf(timeline(page).locator('canvas'));
      // Narrow: it has no room for a name.
      const [tick] = await pixel(page, 0, 70.2);
      await page.mouse.move(tick, canvas.y + 26);
      await reported(page).getByText('tick timers.js:3').waitFor();
      const [collection] = await pixel(page, 0, 81);
      await page.mouse.move(collection, canvas.y + 8);
      await reported(page).getByText('garbage collection, scavenge: 2.00 ms from 80.0 ms').waitFor();
      const [pool] = await pixel(page, 0, 90);
      await page.mouse.move(pool, canvas.y + 44);
      await reported(page).getByText('thread pool full, crypto.pbkdf2 16: 10.0 ms from 84.0 ms').waitFor();
      await page
        .getByText('Of the waiting, the thread pool was full 10.0 ms, crypto.pbkdf2 16 10.0 ms')
        .first()
        .waitFor();
      const [busy] = await pixel(page, 0, 30);
      await page.mouse.move(busy, canvas.y + 26);
      await reported(page).getByText('build report').waitFor();
      await keepPicture(page, 'trace-timeline');
      await page.mouse.click(busy, canvas.y + 26);
      await page.waitForURL(new RegExp(`id=${REPORT}`));
    });

    test('by key too, also those out of sight', async () => {
      const page = await openCart();
      for (let i = 0; i < 4; i++) await page.keyboard.press('+');
      for (let i = 0; i < 40; i++) await page.keyboard.press('[');
      await expect.poll(() => sight(page)).toBe('0.00 µs to 6.25 ms');
      await timeline(page).focus();
      await page.keyboard.press('ArrowRight');
      await reported(page).getByText('build report').waitFor();
      await page.keyboard.press('ArrowRight');
      await reported(page).getByText('tick timers.js:3').waitFor();
      await expect.poll(() => sight(page)).toBe('66.9 ms to 73.1 ms');
      await page.keyboard.press('ArrowRight');
      await reported(page).getByText('scavenge').waitFor();
      // The rows did not move meanwhile.
      await isSelected(page, 'GET /cart');
      for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowLeft');
      await reported(page).getByText('build report').waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(new RegExp(`id=${REPORT}`));
    });
  });

  describe('taken along', () => {
    const copied = async (page: Page): Promise<{ resourceSpans: unknown[] }> => {
      await page.getByRole('button', { name: 'Copy as JSON' }).click();
      await page.getByText('copied').waitFor();
      await page.evaluate(`document.body.append(document.createElement('textarea'))`);
      await page.locator('textarea').focus();
      await page.keyboard.press('Control+V');
      return JSON.parse(await page.locator('textarea').inputValue());
    };

    test('copied, also where the page has no clipboard of its own', async () => {
      const page = await openCart('', { permissions: ['clipboard-read', 'clipboard-write'] });
      expect((await copied(page)).resourceSpans).toHaveLength(2);
      const plain = await open(url);
      await plain.addInitScript(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
      await plain.goto(`${url}#/traces/show?id=${REPORT}`);
      await plain.reload();
      await details(plain).getByText('Resource').waitFor();
      expect((await copied(plain)).resourceSpans).toHaveLength(1);
    });

    test('saved for Jaeger UI, for Perfetto and as OTLP', async () => {
      const page = await openCart();
      const [jaegerName, jaeger] = await savedBy(page, 'Save for Jaeger UI');
      expect(jaegerName).toBe(`${CART}.jaeger.json`);
      expect(JSON.parse(jaeger.toString()).data[0].spans).toHaveLength(5);
      const [otlpName, otlp] = await savedBy(page, 'Save as OTLP');
      expect(otlpName).toBe(`${CART}.otlp.json`);
      expect(JSON.parse(otlp.toString()).resourceSpans).toHaveLength(2);
      const [perfettoName, perfetto] = await savedBy(page, 'Save for Perfetto');
      expect(perfettoName).toBe(`${CART}.perfetto-trace`);
      expect(decodePerfetto(perfetto).slices.map(({ name }) => name)).toContain('SELECT');
      await page.getByText('saved').waitFor();
    });
  });

  test('clean for axe-core in both themes, and no wider than a telephone', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const viewport of Object.values(sizesIn(colorScheme))) {
        const page = await openCart(`&span=${RENDER}`, { colorScheme, viewport });
        await page.getByText('3 links out, 2 in').waitFor();
        await page.locator('details.links summary').click();
        expect(await accessibilityFaults(page)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
        await keepPicture(page, `trace-${colorScheme}-${viewport.width}`);
      }
    }
  });

  test('20,000 spans open, collapse and are searched', async () => {
    const directory = tracesIn(scratch());
    await makeTraces(directory);
    const large = await Archive.open(directory, { readOnly: true });
    onTestFinished(() => large.close());
    const [{ traceId }] = await large.search({ name: 'import' });
    const page = await open(`${await serve({ archive: large })}#/traces/show?id=${traceId}`);
    await page.getByText(/, 20001 rows/).waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.getByText(/, 1 rows/).waitFor();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('/');
    await page.keyboard.type('row');
    await page.getByText('19800 found', { exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await isSelected(page, 'row');
    await keepPicture(page, 'trace-20000');
  });

  test('what a trace of more than 100,000 spans leaves out is said', async () => {
    const large = await Archive.open(join(scratch(), 'large'));
    // When the page is gone: it may still ask for the time around the trace.
    onTestFinished(() => large.close());
    const traceId = 'd'.repeat(32);
    const all = Array.from({ length: 100_010 }, (_, i) =>
      span({ traceId, spanId: spanIdOf(i + 1), parentSpanId: i === 0 ? '' : spanIdOf(1) }),
    );
    for (let at = 0; at < all.length; ) {
      const taken = large.append(all.slice(at, at + 10_000));
      at += taken;
      if (taken === 0) await large.seal();
    }
    const page = await open(`${await serve({ archive: large })}#/traces/show?id=${traceId}&span=${ROOT}`);
    await page.getByText('The first 100000 spans are shown, in the order of the tree; 10 are left out').waitFor();
    await page.getByText('100010 spans').waitFor();
  });
});
