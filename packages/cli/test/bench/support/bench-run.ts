// A project with benchmarks of several tools, and `spanline bench run` of them.
import { join } from 'node:path';
import { expect } from 'vitest';
import type { BenchRun } from '../../../../tracedb/src/bench-history/history-file.js';
import { type Outcome, scratch, spanline } from '../../support/spanline.js';
import { Project } from './project.js';

const TINYBENCH = `
import { Bench } from 'tinybench';
const bench = new Bench({ time: 20, warmupTime: 5, retainSamples: true });
bench.add('sum', () => { let sum = 0; for (let i = 0; i < 1000; i++) sum += i; return sum; });
bench.add('wait', async () => { await null; });
await bench.run();
`;

/** Made anew for each file of tests: they share this module. */
export const useBenchRun = () => {
  const dir = scratch();
  const project = new Project(join(dir, 'project'));
  project.write(
    'tasks.mjs',
    `${TINYBENCH}console.log(JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, ...result }))));`,
  );
  project.write(
    'results.mjs',
    `${TINYBENCH}console.log('results:');console.log(JSON.stringify(bench.results, null, 2));console.log('bye');`,
  );
  project.write('table.mjs', `${TINYBENCH}console.table(bench.table());`);
  project.write('rows.mjs', `${TINYBENCH}console.log(JSON.stringify(bench.table()));`);
  project.write(
    'failing.mjs',
    `${TINYBENCH.replace('let sum = 0;', "throw new Error('no luck');")}console.log(JSON.stringify(bench.results));`,
  );
  project.write(
    'own.bench.ts',
    `import { bench, describe } from 'vitest';
describe('group', () => { bench('sum', () => { let sum = 0; for (let i = 0; i < 1000; i++) sum += i; }, { time: 20, warmupTime: 5 }); });`,
  );
  project.write('vitest.config.ts', 'export default { cacheDir: ".cache" };');
  const commit = project.commit('benchmarks');

  /** `spanline bench run`, in this process. */
  const run = (...args: string[]): Promise<Outcome> =>
    spanline(['bench', 'run', ...args], {
      cwd: project.dir,
      // A vitest that is started by this one must not take itself for a part of it.
      env: { VITEST: '', VITEST_POOL_ID: '', VITEST_WORKER_ID: '', VITEST_MODE: '', CI: '1', NODE_ENV: '' },
    });

  const json = async (...args: string[]): Promise<BenchRun> => {
    const { code, stdout, stderr } = await run('--json', ...args);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout) as BenchRun;
  };

  return { dir, project, commit, run, json };
};

/** Figures without their values. */
export const shape = ({ figures }: BenchRun): string[] =>
  figures.map(({ bench, metric, unit, value, samples }) => {
    expect(value).toBeGreaterThan(0);
    for (const sample of samples) expect(sample).toBeGreaterThan(0);
    return `${bench} ${metric} ${unit} ${samples.length}`;
  });
