// `spanline gold triage`: says whether digests of a test are right.

import { type GoldStore, type TestDigest, type TriageStatus, unseenDigests } from '@spanline/tracedb';
import { Argument, type Command } from 'commander';
import { userName } from 'spanline/internal/base';
import { notFound } from '../exit-code.js';
import type { Call } from '../store-session.js';
import { printAnswer, type StoreOptions, withGold, withStore } from './gold-options.js';

interface TriageOptions extends StoreOptions {
  readonly by?: string;
  readonly note?: string;
  readonly unseen?: boolean;
}

/** A mistyped name must not become an expectation that nothing will ever meet. */
const refuseUnseen = async (store: GoldStore, changes: readonly TestDigest[], call: Call): Promise<void> => {
  const reasons = new Set((await unseenDigests(store, changes, call)).map(({ reason }) => reason));
  if (reasons.size === 0) return;
  const [first, ...more] = reasons;
  throw notFound(
    `nothing is triaged: ${first}${more.length > 0 ? `, and ${more.length} more` : ''}; --unseen triages it all the same`,
  );
};

/** Register the command. */
export const register = (gold: Command): void => {
  withStore(gold.command('triage'))
    .description('say of digests of a test: positive (right), negative (wrong) or untriaged')
    .argument('<test>', 'name of the test')
    .addArgument(new Argument('<status>', 'what they are').choices(['positive', 'negative', 'untriaged']))
    .argument('<digest...>', 'digests')
    .option('--by <name>', 'author; you when left out')
    .option('--note <text>', 'why')
    .option('--unseen', 'also what the store has no result of: expectations that come before results')
    .addHelpText(
      'after',
      "\nExamples:\n  $ spanline gold triage --store ./gold circle positive 0cc175b9c0f1b6a831c399e269772661 --note 'new font'\n\n" +
        'Exit codes: 0 done, 1 the store has no such test, or the test never gave such a digest: nothing is triaged, 2 wrong usage, 3 the store failed.',
    )
    .action(
      (
        test: string,
        status: TriageStatus,
        digests: string[],
        { by = userName(), note, unseen = false, ...options }: TriageOptions,
      ) =>
        withGold(options, async ({ gold: store, call }) => {
          const changes = digests.map((digest) => ({ test, digest, status }));
          if (!unseen) await refuseUnseen(store, changes, call);
          const changed = await store.expectations.triage(changes, { by, note, ...call });
          const text = `${changed} of ${digests.length} digests of ${test} changed to ${status}\n`;
          printAnswer(options.json, { test, status, changed }, text);
        }),
    );
};
