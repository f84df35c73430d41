// The startup suite: what spanline adds to a process before it does anything. Every program starts in a fresh process, one at a time, and
// they take turns, each round from another one on. A figure is paired with that of the empty program of its round.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { rowAbove, rowOf } from '../lib/rows.mjs';
import { versionOf } from '../lib/subjects.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const RESOURCES = ['--require', at('resources.cjs')];
const EMPTY = at('empty.mjs');
const ROUNDS = { full: 25, quick: 7 };

/** What `node` is given, by name; the first is what the others are compared with. */
const PROGRAMS = {
  empty: [...RESOURCES, EMPTY],
  import: [...RESOURCES, at('import.mjs')],
  archive: [...RESOURCES, at('import-archive.mjs')],
  register: [...RESOURCES, '--import', new URL('../../dist/esm/register/preload.js', import.meta.url).href, EMPTY],
  help: [...RESOURCES, at('../../packages/cli/dist/esm/main.js'), '--help'],
};
const UNITS = { wall: 'ms', cpu: 'ms', memory: 'MB' };

/** One start. `wall`: until the process has ended. What the program prints of itself comes over descriptor 3. */
function start(node, args) {
  const begin = performance.now();
  const { status, signal, output, error } = spawnSync(node, args, {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    // What the caller's environment asks of spanline or of Node would be measured too.
    env: { PATH: process.env.PATH, OTEL_TRACES_EXPORTER: 'none' },
  });
  const wall = performance.now() - begin;
  if (error) throw error;
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended early (${signal ?? status})`);
  return { wall, ...JSON.parse(output[3].toString()) };
}

/** The rows of one program: the empty one as it is, others above it. */
const rowsOf = (name, own, empty) =>
  Object.entries(UNITS).map(([n, unit]) => {
    const figures = own.map((run) => run[n]);
    if (name === 'empty') return rowOf({ subject: 'node', name, n, unit }, figures);
    return rowAbove(
      { subject: 'spanline', name, n, unit },
      figures,
      empty.map((run) => run[n]),
    );
  });

export async function measure(node, { quick, only = /./, log }) {
  const version = versionOf(node);
  const wanted = Object.keys(PROGRAMS).filter(
    (name) => name === 'empty' || Object.keys(UNITS).some((n) => only.test(`${name} ${n}`)),
  );
  const runs = new Map(wanted.map((name) => [name, []]));
  const firstSpans = [];
  const rounds = ROUNDS[quick ? 'quick' : 'full'];
  for (let round = 0; round <= rounds; round++) {
    log(`Node ${version}: startup, round ${round} of ${rounds}`);
    const first = round % wanted.length;
    for (const name of [...wanted.slice(first), ...wanted.slice(0, first)]) {
      const run = start(node, PROGRAMS[name]);
      // The first round reads the files from the disk.
      if (round > 0) runs.get(name).push(run);
    }
    if (only.test('first-span wall')) firstSpans.push(start(node, [at('first-span.mjs')]).wall);
  }
  const results = wanted.flatMap((name) => rowsOf(name, runs.get(name), runs.get('empty')));
  if (firstSpans.length > 0) {
    results.push(rowOf({ subject: 'spanline', name: 'first-span', n: 'wall', unit: 'ms' }, firstSpans));
  }
  return { version, results };
}
