// The commit that the gate of CI compares with is never the one it judges: the environment's, else the newest of the history, else the parent.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readBenchHistory } from '../../packages/tracedb/src/bench-history/index.js';

interface BaseCommit {
  baseCommit(options: { root: string; env?: NodeJS.ProcessEnv }): string | undefined;
}
const { baseCommit } = (await import(pathToFileURL(resolve('bench/gate/base-commit.mjs')).href)) as BaseCommit;

let root: string;
const git = (...args: string[]): string =>
  execFileSync('git', ['-C', root, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { encoding: 'utf8' }).trim();
const commit = (): string => {
  git('commit', '--quiet', '--allow-empty', '-m', 'a change');
  return git('rev-parse', 'HEAD');
};
const record = (...commits: string[]): void => {
  mkdirSync(join(root, 'bench/history'), { recursive: true });
  const lines = commits.map((one) => `${JSON.stringify({ commit: one })}\n`);
  writeFileSync(join(root, 'bench/history/gate.jsonl'), lines.join(''));
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'base-commit-'));
  git('init', '--quiet');
});
afterEach(() => rmSync(root, { recursive: true }));

test('the newest recorded commit that HEAD came from, whatever the order of the runs', () => {
  const [first, second] = [commit(), commit()];
  commit();
  const head = commit();
  record(second, first, head, 'f'.repeat(40));
  expect(baseCommit({ root, env: {} })).toBe(second);
});

test('the parent where none is recorded, and what the environment names before all', () => {
  const first = commit();
  record(first);
  const parent = commit();
  record(commit());
  expect(baseCommit({ root, env: {} })).toBe(parent);
  expect(baseCommit({ root, env: { SPANLINE_BENCH_BASE: 'v1' } })).toBe('v1');
});

test('none in a clone of one commit', () => {
  commit();
  expect(baseCommit({ root, env: {} })).toBeUndefined();
});

test('the history of this project can be read, and has measured the same figures of every commit', () => {
  const runs = readBenchHistory(resolve('bench/history/gate.jsonl'));
  expect(runs.length).toBeGreaterThanOrEqual(3);
  const namesOf = (at: number): string[] => runs[at].figures.map(({ bench }) => bench);
  for (const at of runs.keys()) expect(namesOf(at)).toEqual(namesOf(0));
});
