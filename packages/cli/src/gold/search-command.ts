// `spanline gold search`: digests by query, status and ignore rules.

import type { DigestResult, DigestSearch, TriageStatus } from '@spanline/tracedb';
import { type Command, Option } from 'commander';
import { ExitCode, endWith } from '../exit-code.js';
import { wholeNumber } from '../options.js';
import { columns } from '../output.js';
import { note, printAnswer, type StoreOptions, withGold, withStore } from './gold-options.js';

interface SearchOptions extends StoreOptions {
  readonly commits: number;
  readonly status: readonly TriageStatus[];
  readonly ignored: NonNullable<DigestSearch['ignored']>;
  readonly all?: boolean;
  readonly offset: number;
  readonly limit: number;
}

const row = ({ test, digest, status, traces, firstCommit, lastCommit }: DigestResult): string[] => [
  test,
  digest,
  status,
  String(traces.length),
  String(firstCommit),
  String(lastCommit),
];

/** Register the command. */
export const register = (gold: Command): void => {
  withStore(gold.command('search [query]'))
    .description('digests by params and options of their traces; by default those that need triage')
    .option('-n, --commits <count>', 'how many commits with data to look at', wholeNumber(1, 100_000), 100)
    .addOption(
      new Option('--status <status...>', 'statuses')
        .choices(['untriaged', 'positive', 'negative'])
        .default(['untriaged']),
    )
    .addOption(
      new Option('--ignored <which>', 'traces that an ignore rule matches')
        .choices(['exclude', 'include', 'only'])
        .default('exclude'),
    )
    .option('--all', 'digests that are gone by now too, not only the last ones of traces')
    .option('--offset <count>', 'results to skip', wholeNumber(0), 0)
    .option('--limit <count>', 'results to print', wholeNumber(1, 10_000), 100)
    .addHelpText(
      'after',
      "\nExamples:\n  $ spanline gold search --store ./gold 'gpu=mali'\n  $ spanline gold search --store ./gold --status negative positive\n\n" +
        'Exit codes: 0 no untriaged or negative digest found, 1 one is.',
    )
    .action((query: string | undefined, { commits, status, ignored, all, offset, limit, ...options }: SearchOptions) =>
      withGold(options, async ({ gold: store, call }) => {
        const search = { query: query ?? '', statuses: status, ignored, head: all !== true, offset, limit };
        const { results, total, totals, ignoredTraces, reason } = await store.search(commits, search, call);
        const shown = results.map((result) => ({ ...result, paramSet: result.paramSet.toJSON() }));
        const table = columns(['test', 'digest', 'status', 'traces', 'first', 'last'], results.map(row), 'lllrrr');
        const text = `${table}${results.length} of ${total} digests; ${ignoredTraces} traces ignored\n`;
        printAnswer(options.json, { total, totals, ignoredTraces, reason, results: shown }, text);
        if (reason !== undefined) note(reason);
        // Also when they are on another page.
        if (totals.untriaged + totals.negative > 0) endWith(ExitCode.findings);
      }),
    );
};
