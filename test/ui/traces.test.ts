// The search and the page of one trace in a real browser: what is found, sorted and shown, by mouse and by key; hostile names stay text; answers
// of the server against the archive itself.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Archive } from '../../src/archive/index.js';
import type { TraceAnswer } from '../../src/ui/api/trace/answers.js';
import type { TracesAnswer } from '../../src/ui/api/traces/answers.js';
import { buildFirst, scratch } from '../cli/support/spanline.js';
import { accessibilityFaults } from './support/accessibility.js';
import { HOSTILE, makeTraces, tracesIn } from './support/archive.js';
import { hasBrowser, SIZES, useBrowser } from './support/browser.js';
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

const ask = async <T>(path: string): Promise<T> => (await (await fetch(`${url}/api/${path}`)).json()) as T;

describe('answers', () => {
  test('the search finds what the archive finds', async () => {
    const { traces, isFull } = await ask<TracesAnswer>('traces?status=error');
    expect(traces.map(({ name, errorCount }) => [name, errorCount])).toEqual([[HOSTILE, 1]]);
    expect(isFull).toBe(false);
    expect((await ask<TracesAnswer>('traces?service=shop&limit=3')).traces).toHaveLength(3);
    const slow = await ask<TracesAnswer>('traces?name=SELECT%20item');
    expect(slow.traces).toHaveLength((await archive.search({ name: 'SELECT item' })).length);
    expect((await fetch(`${url}/api/traces?min=soon`)).status).toBe(400);
    expect((await fetch(`${url}/api/trace?id=${'0'.repeat(31)}1`)).status).toBe(404);
  });

  test('columns of a trace hold each span once below its parent, with its own time', async () => {
    const [{ traceId }] = await archive.search({ name: 'import' });
    const { spans, names, durationUs } = await ask<TraceAnswer>(`trace?id=${traceId}`);
    const expected = await archive.trace(traceId);
    expect(spans.ids.toSorted()).toEqual(expected.map(({ spanId }) => spanId).sort());
    const byId = new Map(expected.map((span) => [span.spanId, span]));
    for (const [place, id] of spans.ids.entries()) {
      const span = byId.get(id);
      expect(names[spans.name[place]]).toBe(span?.name);
      expect(spans.ids[spans.parent[place]] ?? '').toBe(span?.parentSpanId);
      expect(spans.selfUs[place]).toBeLessThanOrEqual(spans.durationUs[place] + 0.001);
    }
    // What a span does not do itself its children do: these ran one after another.
    const sum = spans.selfUs.reduce((total, us) => total + us, 0);
    expect(Math.abs(sum - durationUs)).toBeLessThan(durationUs / 1000 + 1);
  });

  test('a trace is saved for others as they read it', async () => {
    const [{ traceId }] = await archive.search({ name: 'GET /orders' });
    const jaeger = await ask<{ data: { traceID: string; spans: unknown[] }[] }>(
      `trace/file?id=${traceId}&format=jaeger`,
    );
    expect(jaeger.data[0].traceID).toBe(traceId);
    const otlp = await ask<{ resourceSpans: unknown[] }>(`trace/file?id=${traceId}&format=otlp`);
    expect(otlp.resourceSpans).toHaveLength(1);
    expect((await fetch(`${url}/api/trace/file?id=${traceId}&format=toString`)).status).toBe(400);
  });
});

describe.skipIf(!hasBrowser)('in a browser', () => {
  const { open, keepPicture } = useBrowser();

  test('a search, a trace and a span by key; the address holds them', async () => {
    const page = await open(`${url}#/traces`);
    await page.getByText('14 traces').waitFor();
    await page.getByRole('button', { name: 'spans' }).click();
    expect(await page.locator('tbody tr a').first().textContent()).toBe('import');
    await page.getByLabel('span name').fill('SELECT item');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('8 traces').waitFor();
    await keepPicture(page, 'traces');
    await page.locator('tbody tr a').first().click();
    await page.getByRole('heading', { name: 'GET /orders' }).first().waitFor();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('complementary').getByRole('heading', { name: 'SELECT orders' }).waitFor();
    expect(page.url()).toMatch(/traces\/show\?id=[\da-f]{32}&span=[\da-f]{16}$/);
    await page.reload();
    await page.getByRole('complementary').getByRole('heading', { name: 'SELECT orders' }).waitFor();
    await keepPicture(page, 'trace');
  });

  test('hostile names and properties stay text', async () => {
    const page = await open(`${url}#/traces?status=error`);
    await page.getByRole('link', { name: HOSTILE }).click();
    await page.getByRole('complementary').getByText(`message`).waitFor();
    await page.getByRole('heading', { name: HOSTILE }).first().waitFor();
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await page.title()).toBe('Traces – spanline');
  });

  test('20,000 spans open, collapse and are searched', async () => {
    const [{ traceId }] = await archive.search({ name: 'import' });
    const page = await open(`${url}#/traces/show?id=${traceId}`);
    await page.getByText(/, 20001 rows/).waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.getByText(/, 1 rows/).waitFor();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('/');
    await page.keyboard.type('row');
    await page.getByText('19800 found').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('complementary').getByRole('heading', { name: 'row' }).waitFor();
    await keepPicture(page, 'trace-20000');
  });

  test('clean for axe-core in both themes, and no wider than a telephone', async () => {
    const [{ traceId }] = await archive.search({ name: 'GET /orders' });
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const viewport of Object.values(SIZES)) {
        const page = await open(`${url}#/traces`, { colorScheme, viewport });
        await page.getByText('14 traces').waitFor();
        expect(await accessibilityFaults(page)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
        await page.goto(`${url}#/traces/show?id=${traceId}`);
        await page.getByRole('complementary').getByText('Resource').waitFor();
        expect(await accessibilityFaults(page)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
        await keepPicture(page, `trace-${colorScheme}-${viewport.width}`);
      }
    }
  });
});
