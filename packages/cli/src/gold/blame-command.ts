// `spanline gold blame`: which commits may have brought the digests nobody has triaged.

import type { Blame, GoldStore } from '@spanline/tracedb';
import { DEFAULT_TEST_KEY, didYouMean, quoted } from '@spanline/tracedb/internal';
import type { Command } from 'commander';
import { ExitCode, endWith, notFound } from '../exit-code.js';
import { wholeNumber } from '../options.js';
import { columns } from '../output.js';
import type { Call } from '../store-session.js';
import { printAnswer, type StoreOptions, withGold, withStore } from './gold-options.js';

interface BlameOptions extends StoreOptions {
  readonly commits: number;
  readonly test?: string;
}

const row = ({ test, digest, suspects, firstSeen, traces, mayBeOlder }: Blame): string[] => [
  test,
  digest,
  `${suspects.map(({ commit }) => commit).join(' ')}${mayBeOlder ? ' or older' : ''}`.trim(),
  String(firstSeen),
  String(traces),
];

/** A mistyped name must not look like a test of which nothing is untriaged. */
const requireTest = async (store: GoldStore, test: string, call: Call): Promise<void> => {
  const tests = new Set<string>();
  for await (const tile of store.tiles(call)) {
    for (const one of (await store.orderedParamSet(tile, call)).values(DEFAULT_TEST_KEY)) tests.add(one);
    if (tests.has(test)) return;
  }
  throw notFound(`the store has no test ${quoted(test)}${didYouMean(test, [...tests])}`);
};

/** Register the command. */
export const register = (gold: Command): void => {
  withStore(gold.command('blame'))
    .description('commits that may have brought each untriaged digest')
    .option('-n, --commits <count>', 'how many commits with data to look at', wholeNumber(1, 100_000), 100)
    .option('--test <name>', 'only this test')
    .addHelpText(
      'after',
      '\nExamples:\n  $ spanline gold blame --store ./gold\n\nExit codes: 0 nothing untriaged, 1 something is, or the store has no such test.',
    )
    .action(({ commits, test, ...options }: BlameOptions) =>
      withGold(options, async ({ gold: store, call }) => {
        const all = await store.blame(commits, undefined, call);
        const blamed = test === undefined ? all : all.filter((one) => one.test === test);
        if (test !== undefined && blamed.length === 0) await requireTest(store, test, call);
        const head = ['test', 'digest', 'suspects', 'first seen', 'traces'];
        printAnswer(options.json, blamed, columns(head, blamed.map(row), 'lllrr'));
        if (blamed.length > 0) endWith(ExitCode.findings);
      }),
    );
};
