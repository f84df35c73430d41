// `spanline bench compare` and `spanline bench history` say of a history file and of a Perf store the same: what got worse beyond chance, and how a
// figure went.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { appendBenchRun } from '../../../tracedb/src/bench-history/history-file.js';
import { type Outcome, scratch, spanline } from '../support/spanline.js';
import { Project } from './support/project.js';

const dir = scratch();
const project = new Project(join(dir, 'project'));
project.write('a.txt', 'one');
const older = project.commit('older');
project.write('a.txt', 'two');
const newer = project.commit('newer');
const file = join(dir, 'history.jsonl');
const store = join(dir, 'store');

const spread = (middle: number): number[] => Array.from({ length: 9 }, (_, i) => middle + i - 4);
const figure = (bench: string, unit: string, value: number, samples: readonly number[]) => ({
  bench,
  metric: 'caller',
  unit,
  value,
  samples,
});

const machine = 'ci';
const run = (commit: string, commitMs: number, figures: readonly ReturnType<typeof figure>[]): void =>
  appendBenchRun(file, { commit, commitMs, measuredMs: 1e12, tool: 'custom', node: '20', machine, figures });

// The newer one first: a commit that is measured again later stays where it was made.
run(newer, 2e9, [
  figure('slower', 'ns', 120, spread(120)),
  figure('quicker', 'ns', 80, spread(80)),
  figure('rate', 'ops/s', 70, spread(70)),
  figure('noisy', 'ns', 120, [60, 80, 100, 120, 150, 180, 220]),
  figure('calm', 'ns', 101, spread(101)),
  figure('bare', 'ms', 12, []),
  figure('new', 'ns', 1, []),
]);
run(older, 1e9, [
  figure('slower', 'ns', 100, spread(100)),
  figure('quicker', 'ns', 100, spread(100)),
  figure('rate', 'ops/s', 100, spread(100)),
  figure('noisy', 'ns', 100, [50, 70, 90, 100, 140, 170, 210]),
  figure('calm', 'ns', 100, spread(100)),
  figure('bare', 'ms', 10, []),
]);

const SOURCES = [
  ['a history file', ['--file', file]],
  ['a store', ['--store', store]],
] as const;

beforeAll(async () => {
  const ingested = await spanline(['perf', 'ingest', '--store', store, file]);
  if (ingested.code !== 0) throw new Error(ingested.stderr);
});

const bench = (...args: string[]): Promise<Outcome> => spanline(['bench', ...args], { cwd: project.dir });

interface Compared {
  readonly series: readonly { readonly bench: string; readonly verdict: string; readonly pValue?: number }[];
}

describe.each(SOURCES)('of %s', (_what, source) => {
  test('compare tells what is worse, better and unsure, and ends with 1', async () => {
    const { code, stdout, stderr } = await bench('compare', ...source, '--json', '--all', older.slice(0, 8), newer);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const { series } = JSON.parse(stdout) as Compared;
    expect(Object.fromEntries(series.map((one) => [one.bench, one.verdict]))).toEqual({
      slower: 'worse',
      rate: 'worse',
      quicker: 'better',
      noisy: 'unsure',
      bare: 'worse',
      calm: 'same',
    });
    const pOf = (name: string): number | undefined => series.find((one) => one.bench === name)?.pValue;
    // All of nine below all of nine, of the 48620 ways to deal them, both ways.
    expect(pOf('slower')).toBeCloseTo(2 / 48620, 12);
    expect(pOf('bare')).toBeUndefined();
  });

  test('compare ends with 0 where nothing is worse by the minimum effect', async () => {
    const { code, stdout } = await bench('compare', ...source, older, newer, '--min-effect', '50%');
    expect(code).toBe(0);
    expect(stdout).toBe('6 series at both commits, 0 worse, 0 unsure\n');
  });

  test('compare takes names that git knows', async () => {
    const { code, stdout } = await bench('compare', ...source, 'HEAD~1', 'HEAD');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^slower caller, Node 20, ci +100 +120 +ns +\+20\.0 % +0\.000041 +worse$/m);
  });

  test('history lists all figures, the oldest commit first', async () => {
    const { code, stdout } = await bench('history', ...source);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^slower caller, Node 20, ci +2 +100 +120 +ns +\+20\.0 %$/m);
    expect(stdout).toMatch(/^new caller, Node 20, ci +1 +1 +1 +ns +\+0\.0 %$/m);
  });

  test('history draws the one that is named', async () => {
    const { code, stdout } = await bench('history', ...source, 'slower');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^slower caller, Node 20, ci, ns\n +120 [┤┼]╭/);
    expect(stdout).toContain('2 values, ');
    expect(stdout).not.toContain('quicker');
  });
});

test('names of figures and commits do nothing to a terminal', async () => {
  const named = join(dir, 'named.jsonl');
  const benches = [{ name: 'a', value: 1, unit: 'ms', params: { bench: 'x\x1b]0;title\x07', metric: 'm\ny' } }];
  writeFileSync(named, `${JSON.stringify({ commit: 'b\x1b[5mbb', date: 1e12, tool: 'custom', benches })}\n`);
  const { code, stdout } = await bench('history', '-f', named, 'x');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^x\\x1b\]0;title\\x07 m\\ny.*, ms\n/);
  expect(stdout).toContain('1 values, b\\x1b[5mbb to b\\x1b[5mbb\n');
  expect(stdout).not.toContain('\x1b');
});

test('history of the newest commits only', async () => {
  const { stdout } = await bench('history', '-f', file, '--json', '--last', '1', 'slower');
  expect(JSON.parse(stdout).series).toMatchObject([{ bench: 'slower', points: [{ hash: newer, value: 120 }] }]);
});

test('a commit that was measured several times is the median of its runs, each of them a sample', async () => {
  const again = join(dir, 'again.jsonl');
  const values = { aaa: [10, 11, 12, 13], aab: [20, 21, 22, 23] };
  for (const [commit, ofRuns] of Object.entries(values)) {
    for (const value of ofRuns) {
      const figures = [figure('twice', 'ns', value, [])];
      appendBenchRun(again, { commit, measuredMs: 1e12, tool: 'custom', node: '20', machine, figures });
    }
  }
  const { code, stdout } = await bench('compare', '-f', again, '--json', 'aaa', 'aab');
  expect(code).toBe(1);
  const [one] = (JSON.parse(stdout) as Compared).series;
  expect(one).toMatchObject({ before: 11.5, after: 21.5, verdict: 'worse' });
  // All of four below all of four, of 70 ways to deal them.
  expect(one.pValue).toBeCloseTo(2 / 70, 12);
  const ambiguous = await bench('compare', '-f', again, 'aa', 'aab');
  expect(ambiguous).toMatchObject({ code: 2 });
  expect(ambiguous.stderr).toContain('2 measured commits begin with aa');
});

test.each<[string, string[], number, RegExp]>([
  [
    'a commit without results',
    ['compare', '-f', file, 'cafe', 'HEAD'],
    1,
    /no results are kept for cafe; there are some for /,
  ],
  ['a file that is not there', ['compare', '-f', 'none.jsonl', 'a', 'b'], 3, /none\.jsonl cannot be read/],
  ['a file and a store', ['history', '-f', file, '-s', store], 2, /--file or --store, not both/],
  ['a figure that is not there', ['history', '-f', file, 'nothing'], 1, /no figure kept there has nothing in its name/],
])('says so of %s', async (_what, args, code, message) => {
  const outcome = await bench(...args);
  expect(outcome.code).toBe(code);
  expect(outcome.stderr).toMatch(message);
});
