// History in a browser, on the benchmark history of the OpenTelemetry JS SDK: a query by clicks, a step, triage that the store keeps.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildFirst, root } from '../../../test/support/built.js';
import { ingestFiles, openTable, PERF_SCHEMA, PerfStore, type WideColumnTable } from '../../tracedb/src/index.js';
import { RegressionTriage } from '../../tracedb/src/perf/regression-triage.js';
import { accessibilityFaults } from './support/accessibility.js';
import { hasBrowser, sizesIn, useBrowser } from './support/browser.js';
import { useServer } from './support/served.js';

let directory: string;
let table: WideColumnTable;
let perf: PerfStore;
buildFirst();
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spanline-ui-'));
  table = await openTable(join(directory, 'perf'), PERF_SCHEMA);
  perf = await PerfStore.open(table);
  await ingestFiles(perf, [join(root, 'examples/data/otel-js-benchmarks.jsonl.gz')]);
});
afterAll(async () => {
  await table?.close();
  await rm(directory, { recursive: true, force: true });
});
const serve = useServer();

describe.skipIf(!hasBrowser)('History in a browser', () => {
  const { open, keepPicture } = useBrowser();

  test('a query by clicks, a step, and a triage that the store keeps', async () => {
    const url = await serve({ perf });
    const page = await open(`${url}#/history`);
    await page.getByText('unit', { exact: false }).first().waitFor();
    await page.locator('summary', { hasText: 'unit' }).click();
    await page.getByRole('button', { name: 'ops_sec' }).click();
    await page.waitForFunction("location.hash.includes('unit')");
    expect(decodeURIComponent(new URL(page.url()).hash)).toContain('unit%3Dops_sec'.replace('%3D', '='));
    await page.locator('.plot canvas').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('h1').click();
    await page.keyboard.press('j');
    await page.getByText(/commits? that may have made it/).waitFor();
    await page.getByLabel('note').fill('a slower context manager');
    await page.getByRole('button', { name: 'It is real' }).click();
    await page.locator('.step').getByText('a slower context manager').waitFor();
    const [said] = await new RegressionTriage(table).list();
    expect(said).toMatchObject({ status: 'positive', note: 'a slower context manager' });
    // The address holds it all.
    const again = await open(page.url());
    await again.locator('.step').getByText('a slower context manager').waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const [size, viewport] of Object.entries(sizesIn(colorScheme))) {
        const seen = await open(page.url(), { colorScheme, viewport });
        await seen.locator('.step').getByText('Values before and after').waitFor();
        await seen.locator('.plot canvas').waitFor();
        expect(await accessibilityFaults(seen)).toEqual([]);
        expect(await seen.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
        await keepPicture(seen, `history-${colorScheme}-${size}`);
      }
    }
  });
});
