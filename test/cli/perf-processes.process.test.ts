// The commands are good processes: a reader may go away, Ctrl-C leaves a store that goes on, and a package that is not installed is
// asked for by name.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { PERF_SCHEMA, PerfStore } from '../../src/tracedb/perf/perf-store.js';
import { openTable } from '../../src/tracedb/table/open-table.js';
import { dump } from '../tracedb/perf/support/dump.js';
import { perfStore } from './support/perf-store.js';
import { type Outcome, root, spanline } from './support/spanline.js';

const { dir, store } = perfStore();

const ENTRIES = 12_000;
const long = join(dir, 'long.jsonl');
writeFileSync(
  long,
  Array.from({ length: ENTRIES }, (_, i) =>
    JSON.stringify({ commit: `c${i}`, date: 1000 + i, benches: [{ name: 'draw', value: i, unit: 'ms' }] }),
  ).join('\n'),
);

const dumpOf = async (place: string): Promise<string[]> => {
  const table = await openTable(place, PERF_SCHEMA);
  try {
    return await dump(table);
  } finally {
    await table.close();
  }
};

/** Wait until the store at `place` has commits, which are written with the first batch. */
const hasBegun = async (place: string): Promise<void> => {
  while (!existsSync(join(place, 'data.mdb'))) await sleep(5);
  const table = await openTable(place, PERF_SCHEMA);
  try {
    const perf = await PerfStore.open(table);
    while ((await perf.commits.list({ from: 0, to: 0 })).length === 0) await sleep(5);
  } finally {
    await table.close();
  }
};

describe('Ctrl-C', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    '%s in the middle of ingest ends with %i, and the same command goes on from there',
    async (name, code) => {
      const place = join(dir, `cut-${name}`);
      const args = ['perf', 'ingest', '--store', place, long, '--json'];
      const outcome = await spanline(args, {
        onStart: (kill) => void hasBegun(place).then(() => kill(name)),
      });
      expect(outcome).toMatchObject({ code, signal: null, stdout: '' });
      expect(outcome.stderr).toContain(
        `spanline: interrupted by ${name}; the store is whole, and the same command goes on`,
      );
      const again = await spanline(args);
      expect(again).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(again.stdout)).toMatchObject([{ outcome: expect.stringMatching(/resumed|written/) }]);
      expect((await spanline(args)).stdout).toContain('"already"');
      // The store is the one that nobody interrupted.
      const whole = join(dir, 'whole');
      if (!existsSync(whole)) await spanline(['perf', 'ingest', '--store', whole, long]);
      expect(await dumpOf(place)).toEqual(await dumpOf(whole));
    },
  );
});

test('a reader that takes one line and goes is no failure', async () => {
  const place = join(dir, 'whole');
  if (!existsSync(place)) await spanline(['perf', 'ingest', '--store', place, long]);
  const program = `"${process.execPath}" "${join(root, 'dist/esm/cli/main.js')}"`;
  for (const command of ['traces export', 'commits', 'query ""', 'tiles list']) {
    const script = `set -o pipefail; ${program} perf ${command} --store "${place}" | head -1`;
    const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    expect({ command, status, stderr }).toEqual({ command, status: 0, stderr: '' });
    expect(stdout.split('\n')).toHaveLength(2);
  }
});

describe('a package that is not installed', () => {
  /** A copy of the build with only these packages. */
  const installation = (name: string, packages: readonly string[]): string => {
    const place = join(dir, `without-${name}`);
    mkdirSync(join(place, 'node_modules/@google-cloud'), { recursive: true });
    for (const part of ['dist/esm', 'dist/cjs']) cpSync(join(root, part), join(place, part), { recursive: true });
    cpSync(join(root, 'package.json'), join(place, 'package.json'));
    for (const one of packages) symlinkSync(join(root, 'node_modules', one), join(place, 'node_modules', one));
    return join(place, 'dist/esm/cli/main.js');
  };

  const ALL = ['commander', 'lmdb', 're2js', 'jstat', 'simple-statistics', 'asciichart', '@google-cloud/bigtable'];

  test.each<[string, string[]]>([
    ['lmdb', ['init', '--store', join(dir, 'no-lmdb')]],
    ['re2js', ['query', '--store', store, 'test=~dr']],
    ['jstat', ['regressions', '--store', store]],
    ['simple-statistics', ['regressions', '--store', store]],
    ['asciichart', ['regressions', '--plot', '--store', store]],
    ['@google-cloud/bigtable', ['init', '--store', 'bigtable://project/instance/table']],
  ])('%s', async (name, args) => {
    const packages = ALL.filter((one) => one !== name);
    const program = installation(name.replace('/', '-'), packages);
    const missing: Outcome = await spanline(['perf', ...args], { program, cwd: dir });
    expect(missing.code).toBe(3);
    expect(missing.stderr).toMatch(new RegExp(`^spanline: .*: npm install ${name}\\n$`));
    // What needs no such package works.
    expect(await spanline(['perf', '--help'], { program, cwd: dir })).toMatchObject({ code: 0, stderr: '' });
  });
});
