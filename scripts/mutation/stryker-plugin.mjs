// Stryker's runner of vitest, for our tests as they are: in forks in place of threads, and for the mutants of the sample alone, since the stretch
// of source of one mutant may hold others.
// Must never call a mutant of the sample survived whose test files did not run to their end.
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { commonTokens, declareFactoryPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';
import { DryRunStatus, MutantRunStatus, TestStatus } from '@stryker-mutator/api/test-runner';
import { VitestTestRunner } from './node_modules/@stryker-mutator/vitest-runner/dist/src/vitest-test-runner.js';
import { placeOf } from './place.mjs';

const sample = new Set(JSON.parse(readFileSync(process.env.SPANLINE_MUTANTS, 'utf8')));

class ForksRunner extends VitestTestRunner {
  async init() {
    await super.init();
    // The runner asks for threads, which have neither signals nor a directory of their own.
    for (const { config } of this.ctx.projects) config.pool = 'forks';
  }

  async dryRun(options) {
    const result = await super.dryRun(options);
    const times = this.ctx.state
      .getFiles()
      .map(({ filepath, result }) => [relative('', filepath), result?.duration ?? 0]);
    // In the copy of the repository, where all runners work.
    writeFileSync('test-times.json', JSON.stringify(Object.fromEntries(times)));
    return result;
  }

  /** Each run has a process of its own, so the mutant is there from its first line on, as if it stood in the source. */
  async mutantRun(options) {
    const { activeMutant } = options;
    const file = relative(process.env.SPANLINE_MUTATED_ROOT, activeMutant.fileName);
    if (!sample.has(placeOf({ ...activeMutant, file }))) return { status: MutantRunStatus.Survived, nrOfTests: 0 };
    return super.mutantRun({ ...options, mutantActivation: 'static' });
  }

  /** The runner looks at tests alone; a file that cannot be loaded or leaves something behind has failed too. */
  async run(options) {
    const result = await super.run(options);
    if (result.status !== DryRunStatus.Complete) return result;
    if (result.tests.some(({ status }) => status === TestStatus.Failed)) return result;
    const failed = this.ctx.state.getFiles().filter(({ result }) => result?.state === 'fail');
    if (failed.length === 0) return result;
    const messages = failed.map((file) => `${file.name}: ${file.result.errors?.[0]?.message ?? 'failed'}`);
    return { status: DryRunStatus.Error, errorMessage: messages.join('\n') };
  }
}

function createForksRunner(injector) {
  return injector.provideValue('globalNamespace', '__stryker__').injectClass(ForksRunner);
}
createForksRunner.inject = tokens(commonTokens.injector);

export const strykerPlugins = [declareFactoryPlugin(PluginKind.TestRunner, 'vitest-forks', createForksRunner)];
