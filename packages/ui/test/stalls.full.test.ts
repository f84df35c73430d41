// Stalls in a real browser, out of the archive of a real service in which slow requests are planted: what the page says is what the command says.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawStalls } from '../../../src/flight-recorder/index.js';
import { buildFirst, root, scratch } from '../../../test/support/built.js';
import { Archive } from '../../archive/src/index.js';
import { archiveStalls } from '../../archive/src/timeline/loop-source.js';
import type { StallsAnswer } from '../src/api/answers.js';
import { accessibilityFaults } from './support/accessibility.js';
import { hasBrowser, sizesIn, useBrowser } from './support/browser.js';
import { useServer } from './support/served.js';

buildFirst();
const dir = scratch();
const serve = useServer();
let archive: Archive;
let url: string;

beforeAll(async () => {
  const directory = join(dir, 'planted');
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import', 'spanline/register', join(root, 'test/flight-recorder/children/planted.mjs')],
    {
      cwd: root,
      encoding: 'utf8',
      env: {
        ...process.env,
        NODE_OPTIONS: '',
        FLIGHT_FILE: join(dir, 'planted.flight'),
        SPANLINE_ARCHIVE: directory,
        SPANLINE_FLIGHT_RECORDER: 'on',
        OTEL_TRACES_EXPORTER: 'none',
      },
    },
  );
  expect([status, stderr]).toEqual([0, '']);
  archive = await Archive.open(directory, { readOnly: true });
  url = await serve({ archive });
}, 60_000);
afterAll(() => archive.close());

const ask = async <T>(path: string): Promise<T> => (await (await fetch(`${url}/api/${path}`)).json()) as T;

test('the answer is what the archive tells, and its parts add up', async () => {
  const { hasTimeline, stalls, notes } = await ask<StallsAnswer>('stalls?limit=5');
  const window = { fromUs: 0, toUs: Date.now() * 1000 };
  const expected = await archiveStalls(archive, window, 5, { signal: AbortSignal.timeout(30_000) });
  expect([hasTimeline, notes]).toEqual([true, []]);
  expect(stalls.map(({ startUs, durationUs, waiters }) => ({ startUs, durationUs, waiters }))).toEqual(
    expected?.map(({ startUs, durationUs, waiters }) => ({ startUs, durationUs, waiters })),
  );
  expect(stalls.length).toBe(5);
  for (const { durationUs, spansUs, gcUs, untracedUs, unknownUs, shortUs, idleUs } of stalls)
    expect(spansUs + gcUs + untracedUs + unknownUs + shortUs + idleUs).toBeCloseTo(durationUs, 3);
  // Stacks go by what the command names them.
  const text = drawStalls(expected ?? []);
  for (const { name } of stalls.flatMap(({ untracedFrames }) => untracedFrames)) expect(text).toContain(name);
  expect((await ask<StallsAnswer>('stalls?last=0')).stalls).toEqual([]);
  expect((await fetch(`${url}/api/stalls?last=soon`)).status).toBe(400);
});

describe.skipIf(!hasBrowser)('the view', () => {
  const { open, keepPicture } = useBrowser();

  test('a waiter leads to its trace', async () => {
    const { stalls } = await ask<StallsAnswer>('stalls');
    const at = stalls.findIndex(({ waiters }) => waiters.length > 0);
    const page = await open(`${url}#/stalls`);
    const card = page.locator('.stall').nth(at);
    await card.getByText('waited').waitFor();
    await keepPicture(page, 'stalls');
    await card.locator('p').last().getByRole('link').first().click();
    await page.waitForURL(/traces\/show\?id=/);
    expect(page.url()).toContain(stalls[at].waiters[0].traceId);
  });

  test('it is clean in both themes and fits a narrow screen', async () => {
    for (const colorScheme of ['light', 'dark'] as const)
      for (const [size, viewport] of Object.entries(sizesIn(colorScheme))) {
        const page = await open(`${url}#/stalls`, { colorScheme, viewport });
        await page.locator('.stall').first().waitFor();
        expect(await accessibilityFaults(page)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
        if (colorScheme === 'dark') await keepPicture(page, `stalls-dark-${size}`);
      }
  });
});
