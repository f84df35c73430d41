// The tests as `npm test` runs them, for Stryker: one worker a runner, and since one test that fails is enough, first the files of the folders that
// are mutated and then those that take the least time.
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration, type ViteUserConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import ours from '../../vitest.config.js';

const near = (process.env.SPANLINE_MUTATED ?? '')
  .split(',')
  .map((folder) => `${folder.replace(/(^|\/)src(?=\/|$)/, '$1test')}/`);

/** What the files took without a mutant, in milliseconds; stryker-plugin.mjs writes it. */
const times = (): Record<string, number> =>
  existsSync('test-times.json') ? JSON.parse(readFileSync('test-times.json', 'utf8')) : {};

class NearFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const timeOf = times();
    const rank = new Map(
      files.map((file) => {
        const name = relative(file.project.config.root, file.moduleId);
        const isNear = near.some((folder) => name.startsWith(folder));
        return [file, (isNear ? 0 : 1e9) + (timeOf[name] ?? 0)];
      }),
    );
    return [...files].sort((a, b) => rank.get(a)! - rank.get(b)!);
  }
}

const { projects, ...shared } = (ours as ViteUserConfig).test ?? {};
const withSetup = (project: TestProjectInlineConfiguration): TestProjectInlineConfiguration => ({
  ...project,
  test: {
    ...project.test,
    setupFiles: ['scripts/mutation/setup.ts', ...[project.test?.setupFiles ?? []].flat()],
  },
});

export default defineConfig({
  ...(ours as ViteUserConfig),
  test: {
    ...shared,
    maxWorkers: 1,
    sequence: { sequencer: NearFirst },
    experimental: { fsModuleCache: false },
    reporters: [],
    projects: (projects as TestProjectInlineConfiguration[]).map(withSetup),
  },
});
