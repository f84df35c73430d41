// Snapshots on the page, of a real process; what is said of processes that give none; how many are kept; and files of them that `spanline ui` is given.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readdirSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { buildFirst, root, scratch } from '../../../test/support/built.js';
import type { Archive } from '../../archive/src/index.js';
import { spanline } from '../../cli/test/support/spanline.js';
import type { SnapshotsAnswer, TracesAnswer } from '../src/api/answers.js';
import { accessibilityFaults } from './support/accessibility.js';
import { hasBrowser, sizesIn, useBrowser } from './support/browser.js';
import { TOKEN } from './support/shop-process.js';
import { useSnapshotServer } from './support/snapshot-server.js';

buildFirst();
const dir = scratch();
const { serve, running, snapshotStoreOf, ask, take, on } = useSnapshotServer(dir);

let pid: number;
let archive: Archive;
let url: string;
beforeAll(() => {
  ({ pid, archive, url } = on);
});

describe('answers', () => {
  test('a process that gives none says why', async () => {
    const env = { SPANLINE_FLIGHT_RECORDER: 'on' };
    const bare = await running({}, { env });
    await expect(take(bare)).rejects.toThrow(/^400 .*has no flight recorder: start it with SPANLINE_FLIGHT_RECORDER/);
    await expect(take(2 ** 22 - 1)).rejects.toThrow(/^400 .*there is no process/);
    const blocked = await running({ flightRecorder: {} }, { last: 'block', env });
    const hurried = await serve({ snapshots: snapshotStoreOf({ timeoutSeconds: 1 }) });
    await expect(take(blocked, hurried)).rejects.toThrow(/^400 .*blocked in native code/);
    // A second question meanwhile is refused.
    const [one, two] = await Promise.allSettled([take(pid), take(pid)]);
    expect([one.status, two.status].sort()).toEqual(['fulfilled', 'rejected']);
  });

  test('so many are kept and open; what was closed opens again; all is gone in the end', async () => {
    const store = snapshotStoreOf();
    const { signal } = new AbortController();
    const first = await store.take(pid, signal);
    const [{ path }] = (await store.list()).files;
    const home = dirname(path);
    for (let i = 0; i < 24; i++) {
      copyFileSync(path, join(home, `copy-${i}.flight`));
      utimesSync(join(home, `copy-${i}.flight`), 1000 + i, 1000 + i);
    }
    const archives = new Set<string>();
    for (let i = 0; i < 6; i++) archives.add((await store.archiveOf(`copy-${i}.flight`)).directory);
    const open = (): string[] => readdirSync(home).filter((name) => name.startsWith('open-'));
    expect(open()).toHaveLength(4);
    const again = await store.archiveOf('copy-0.flight');
    expect(await again.search({})).toHaveLength(2);
    expect(archives.has(again.directory)).toBe(false);
    await store.take(pid, signal);
    const { files } = await store.list();
    expect(files).toHaveLength(20);
    expect(files.map(({ id }) => id)).toContain(first.id);
    expect(files.map(({ id }) => id)).not.toContain('copy-0.flight');
    await store.close();
    expect(existsSync(home)).toBe(false);
  });
});

test('spanline ui opens files that are named, and refuses what is not a snapshot', async () => {
  const file = join(dir, 'named.flight');
  expect((await spanline(['snapshot', String(pid), '-o', file])).code).toBe(0);
  const child = spawn(
    process.execPath,
    [join(root, 'packages/cli/dist/esm/main.js'), 'ui', '--no-open', '--json', '--snapshot', file, '--snapshot', file],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, SPANLINE_ARCHIVE: '', SPANLINE_TOKEN: '' } },
  );
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const [base] = (JSON.parse(String(line)) as { url: string }).url.split('#');
  const { files } = await ask<SnapshotsAnswer>('snapshots', {}, base);
  expect(files.map(({ id }) => id).sort()).toEqual(['2-named.flight', 'named.flight']);
  expect((await ask<TracesAnswer>('traces', { snapshot: 'named.flight' }, base)).traces).toHaveLength(2);
  child.kill('SIGTERM');
  await once(child, 'exit');
  expect(await spanline(['ui', '--no-open', '--snapshot', join(dir, 'shop.mjs')])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('is not a snapshot of the flight recorder'),
  });
  expect(await spanline(['ui', '--no-open', '--snapshot', join(dir, 'nowhere')])).toMatchObject({ code: 3 });
  expect(await spanline(['ui', '--no-open', '--snapshots', join(dir, 'shop.mjs')])).toMatchObject({ code: 3 });
});

describe.skipIf(!hasBrowser)('in a browser', () => {
  const { open, keepPicture, expectFaults } = useBrowser();
  const view = (page: Page) => page.getByRole('heading', { name: 'Snapshots of running processes' });

  test('one is taken by a button; its traces, timeline and stalls are looked at, and the archive again', async () => {
    const page = await open(`${url}#token=${TOKEN}`);
    await page.goto(`${url}#/traces`);
    await page.getByRole('link', { name: 'Snapshots of running processes' }).click();
    await view(page).waitFor();
    await page.getByRole('button', { name: `take a snapshot of process ${pid}`, exact: true }).click();
    await page.getByText(`shop ${pid}, `).waitFor();
    await page.getByText('3 spans, 2 traces of the last').waitFor();
    await page.getByText('2 points').waitFor();
    await page.getByRole('link', { name: 'GET /waits' }).click();
    await page
      .getByRole('region', { name: 'where the time of the trace went' })
      .getByText('the loop had others')
      .waitFor();
    await page.getByRole('application', { name: `timeline of shop ${pid}` }).focus();
    await page.keyboard.press('ArrowRight');
    await keepPicture(page, 'snapshot-trace');
    await page.getByRole('region', { name: 'where the time of the trace went' }).getByRole('link').first().click();
    await page.getByRole('heading', { name: 'GET /report' }).first().waitFor();
    await page.getByRole('region', { name: 'the snapshot' }).getByRole('link', { name: 'Stalls' }).click();
    // Opening the inspector stalls a process too.
    const stall = page.locator('.stall', { hasText: 'build report' });
    await stall.getByText(/traces? waited/).waitFor();
    await keepPicture(page, 'snapshot-stalls');
    await stall.getByRole('link', { name: 'GET /waits' }).click();
    await page.getByRole('heading', { name: 'GET /waits' }).first().waitFor();
    await page.getByRole('link', { name: 'The archive' }).click();
    await page.getByText('3 traces').waitFor();
    expect(page.url()).not.toContain('snapshot');
    await page.getByRole('link', { name: 'Snapshots of running processes' }).click();
    await page.getByRole('link', { name: 'stalls', exact: true }).first().click();
    await page.locator('.stall').first().waitFor();
  });

  test('by number and key; what does not work is said', async () => {
    expectFaults();
    const bare = await running({});
    const page = await open(`${url}#/traces/snapshots`);
    await view(page).waitFor();
    // Other views need none.
    await page.getByRole('button', { name: `take a snapshot of process ${pid}`, exact: true }).click();
    await page.getByRole('heading', { name: 'A token is needed' }).waitFor();
    await page.getByRole('alert').getByText('Open the address that the command printed').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    // Into the same tab.
    await page.evaluate(`location.hash = 'token=${TOKEN}'`);
    await page.getByText('Nothing arrived in the last minute').waitFor();
    expect(page.url()).not.toContain(TOKEN);
    await page.goto(`${url}#/traces/snapshots`);
    await page.getByRole('row', { name: `spanline snapshot ${bare}` }).waitFor();
    await page.getByLabel('process id').fill(String(bare));
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText(`process ${bare} shows no flight recorder`).waitFor();
    await page.getByLabel('process id').fill(String(pid));
    await page.keyboard.press('Enter');
    await page.getByText('2 points').waitFor();
    await page.goto(`${url}#/traces?snapshot=none.flight`);
    await page.getByRole('alert').getByText('there is no snapshot').first().waitFor();
  });

  test('without an archive the page leads here; a server that takes none does not', async () => {
    const page = await open(`${await serve({ snapshots: snapshotStoreOf() })}#/stalls`);
    await page.getByText('No archive is open').waitFor();
    await page.getByRole('link', { name: 'a snapshot of a running process' }).click();
    await view(page).waitFor();
    await page.getByText('There is none yet.').waitFor();
    const none = await open(`${await serve({ archive })}#/traces`);
    await none.getByText('3 traces').waitFor();
    expect(await none.getByRole('link', { name: 'Snapshots of running processes' }).count()).toBe(0);
    await none.goto(`${none.url().split('#')[0]}#/traces/snapshots`);
    await none.getByText('No snapshots are taken here').waitFor();
  });

  test('clean for axe-core in both themes, and no wider than a telephone', async () => {
    const { id } = await take(pid);
    for (const colorScheme of ['light', 'dark'] as const)
      for (const [size, viewport] of Object.entries(sizesIn(colorScheme))) {
        const page = await open(`${url}#/traces/snapshots`, { colorScheme, viewport });
        await page.getByRole('cell', { name: id }).waitFor();
        expect(await accessibilityFaults(page)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
        await keepPicture(page, `snapshots-${colorScheme}-${size}`);
        await page.goto(`${url}#/stalls?snapshot=${id}`);
        await page.locator('.stall').first().waitFor();
        await page.getByText('3 spans, 2 traces').waitFor();
        expect(await accessibilityFaults(page)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      }
  });
});
