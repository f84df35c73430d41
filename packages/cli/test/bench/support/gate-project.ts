// A project with commits that differ in what its benchmark says, and `spanline bench gate` over it. Whatever happens no work tree stays behind.
import { mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import type { GateResult } from '../../../../tracedb/src/bench-history/gate/gate.js';
import { type Outcome, type RunOptions, scratch, spanline } from '../../support/spanline.js';
import { Project } from './project.js';

/** Says what `cost.json` of its commit says, and where it ran; with `noise` up to twice as much, by how often it has run. */
export const BENCH = `
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
appendFileSync(process.env.GATE_LOG, process.cwd() + '\\n');
const figures = JSON.parse(readFileSync('cost.json', 'utf8'));
const runs = readFileSync(process.env.GATE_LOG, 'utf8').split('\\n').length - 1;
const noise = existsSync('noise') ? 1 + ((runs * 7) % 10) / 10 : 1;
console.log(JSON.stringify(figures.map((one) => ({ ...one, value: one.value * noise }))));
`;
const costs = (encode: number, rate = 1000): string =>
  JSON.stringify([
    { name: 'encode', value: encode, unit: 'ns' },
    { name: 'rate', value: rate, unit: 'req/s' },
  ]);

/** What a benchmark that is a program says; `cat cost.json` says the same and starts sooner. */
export const BENCH_COMMAND = [process.execPath, 'bench.mjs'];

/** Each of the answer's series with its judgement. */
export const judged = ({ stdout }: Outcome): Record<string, string> =>
  Object.fromEntries((JSON.parse(stdout) as GateResult).judged.map(({ key, judgement }) => [key, judgement]));

/** Made anew for each file of tests: they share this module. */
export const useGateProject = () => {
  const dir = realpathSync(scratch());
  const temporary = join(dir, 'tmp');
  mkdirSync(temporary);
  const log = join(dir, 'log');

  const project = new Project(join(dir, 'project'));
  project.write('.gitignore', 'node_modules\n.cache\n');
  project.write('bench.mjs', BENCH);
  project.write('cost.json', costs(100));
  const base = project.commit('base');
  project.write('README.md', 'more');
  const same = project.commit('same | code');
  project.write('cost.json', costs(120));
  const slow = project.commit('slow');
  project.write('cost.json', costs(100, 800));
  const fewer = project.commit('fewer requests');
  project.write('cost.json', costs(80));
  const fast = project.commit('fast');
  project.write('cost.json', costs(100));
  project.write('noise', '');
  const noisy = project.commit('noisy');

  const options = { cwd: project.dir, env: { TMPDIR: temporary, GATE_LOG: log, GITHUB_STEP_SUMMARY: '' } };

  /** `spanline bench gate`, in this process. */
  const gate = (args: readonly string[], command: readonly string[], more: RunOptions = {}): Promise<Outcome> =>
    spanline(['bench', 'gate', ...args, '--', ...command], { ...options, ...more });

  beforeEach(() => rmSync(log, { force: true }));

  afterEach(() => {
    expect(readdirSync(temporary)).toEqual([]);
    expect(project.git('worktree', 'list').split('\n')).toHaveLength(1);
  });

  return { dir, temporary, log, project, base, same, slow, fewer, fast, noisy, options, gate };
};
