// `spanline gold triage`: says whether digests of a test are right.
import { userInfo } from 'node:os';
import { Argument, type Command } from 'commander';
import type { TriageStatus } from '../../tracedb/index.js';
import { printJson, type StoreOptions, withGold, withStore } from './gold-options.js';

interface TriageOptions extends StoreOptions {
  readonly by?: string;
  readonly note?: string;
}

/** Who runs the command, for the history. */
export const whoRuns = (): string => process.env.USER || userInfo().username || 'unknown';

/** Register the command. */
export const registerTriage = (gold: Command): void => {
  withStore(gold.command('triage'))
    .description('say of digests of a test: positive (right), negative (wrong) or untriaged')
    .argument('<test>', 'name of the test')
    .addArgument(new Argument('<status>', 'what they are').choices(['positive', 'negative', 'untriaged']))
    .argument('<digest...>', 'digests')
    .option('--by <name>', 'who says it; you when left out')
    .option('--note <text>', 'why')
    .addHelpText(
      'after',
      "\nExamples:\n  $ spanline gold triage --store ./gold circle positive 0cc175b9c0f1b6a831c399e269772661 --note 'new font'",
    )
    .action(
      (test: string, status: TriageStatus, digests: string[], { by = whoRuns(), note, ...options }: TriageOptions) =>
        withGold(options, async ({ gold: store, call }) => {
          const changes = digests.map((digest) => ({ test, digest, status }));
          const changed = await store.expectations.triage(changes, { by, note, ...call });
          if (options.json) printJson({ test, status, changed });
          else process.stdout.write(`${changed} of ${digests.length} digests of ${test} changed to ${status}\n`);
        }),
    );
};
