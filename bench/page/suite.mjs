// The page suite: how long the local page takes to show a large trace and a hundred thousand points, from the start of loading, and how long its frames take
// while one moves in a waterfall. The page is served by `spanline ui` of the Node that is measured; the browser is Debian's chromium without a GPU.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rowOf } from '../lib/rows.mjs';
import { quantile } from '../lib/stats.mjs';
import { versionOf } from '../lib/subjects.mjs';
import { makeTrace, makeTraces } from './archives.mjs';
import { frames, loadMs, MOVES, openBrowser } from './browser.mjs';

const MAIN = fileURLToPath(new URL('../../packages/cli/dist/esm/main.js', import.meta.url));
const ROUNDS = { full: 9, quick: 3 };
const SPANS = [20_000, 100_000];
const POINTS = 100_000;

/** Of all frames, the share that must be no longer. */
const SHARE = 0.95;

const rowsShown = (spans) => `document.querySelector('.waterfall')?.textContent.includes(', ${spans} rows')`;
const POINTS_SHOWN = `document.querySelector('.scatter p')?.textContent.trim() === '${POINTS} points'`;

/** What `work` gives for the address of a `spanline ui` over an archive, which is stopped then. */
const withServer = async (node, directory, work) => {
  const child = spawn(node, [MAIN, 'ui', '--no-open', '--json', '--archive', directory], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env.PATH },
  });
  const ended = once(child, 'exit');
  try {
    const [line] = await Promise.race([
      once(child.stdout, 'data'),
      ended.then(([code]) => {
        throw new Error(`spanline ui ended early (${code})`);
      }),
    ]);
    return await work(JSON.parse(line).url.split('#')[0]);
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
};

export async function measure(node, { quick, only = /./, log }) {
  const version = versionOf(node);
  const rounds = ROUNDS[quick ? 'quick' : 'full'];
  const home = mkdtempSync(join(tmpdir(), 'spanline-page-'));
  const browser = await openBrowser();
  const results = [];
  const add = (name, n, figures) => results.push(rowOf({ subject: 'spanline', name, n, unit: 'ms' }, figures));
  const inRounds = async (what, work) => {
    const figures = [];
    for (let round = 0; round <= rounds; round++) {
      log(`Node ${version}: page, ${what}, ${round} of ${rounds}`);
      const figure = await work();
      // The first round reads files from the disk.
      if (round > 0) figures.push(figure);
    }
    return figures;
  };
  /** `load-first`: by a server that has just started; `load`: by one that has shown it before. */
  const addLoads = async (directory, hash, n, isShown) => {
    const load = (url) => loadMs(browser, `${url}${hash}`, isShown);
    const first = await inRounds(`${n} first`, () => withServer(node, directory, load));
    add('load-first', n, first);
    await withServer(node, directory, async (url) => add('load', n, await inRounds(n, () => load(url))));
  };
  const addFrames = (directory, hash, isShown, moves) =>
    withServer(node, directory, async (url) => {
      for (const move of moves) {
        const runs = await inRounds(move, () => frames(browser, `${url}${hash}`, isShown, move));
        add(
          'frame',
          move,
          runs.map(({ times }) => quantile(times, SHARE)),
        );
        add(
          'frame-work',
          move,
          runs.map(({ workMs }) => workMs),
        );
      }
    });
  try {
    for (const spans of SPANS) {
      const moves = spans === SPANS[0] ? Object.keys(MOVES).filter((move) => only.test(`frame ${move}`)) : [];
      const n = `${spans} spans`;
      const isLoaded = only.test(`load ${n}`);
      if (moves.length === 0 && !isLoaded) continue;
      const directory = join(home, n);
      const hash = `#/traces/show?id=${await makeTrace(directory, spans)}`;
      if (isLoaded) await addLoads(directory, hash, n, rowsShown(spans));
      await addFrames(directory, hash, rowsShown(spans), moves);
    }
    const n = `${POINTS} points`;
    if (only.test(`load ${n}`)) {
      await makeTraces(join(home, n), POINTS);
      await addLoads(join(home, n), '#/traces', n, POINTS_SHOWN);
    }
  } finally {
    await browser.close();
    rmSync(home, { recursive: true, force: true });
  }
  return { version, results };
}
