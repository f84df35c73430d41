// `spanline perf commits`: the commits of a store, with the numbers that tiles and values are counted by.
import type { Command } from 'commander';
import { wholeNumber } from '../options.js';
import { columns } from '../output.js';
import { printAnswer, type StoreOptions, withPerf, withStore } from './perf-options.js';

interface CommitsOptions extends StoreOptions {
  readonly last?: number;
}

/** Register the command. */
export const register = (perf: Command): void => {
  withStore(perf.command('commits'))
    .description('the commits of the store: number, hash, time; the oldest first')
    .option('-n, --last <count>', 'only the newest ones', wholeNumber(1))
    .addHelpText('after', '\nExamples:\n  $ spanline perf commits -s ./perf --last 20')
    .action((options: CommitsOptions) =>
      withPerf(options, async ({ perf: store, call }) => {
        const all = await store.commits.list({}, call);
        const commits = options.last === undefined ? all : all.slice(-options.last);
        const rows = commits.map(({ number, hash, timestampMs }) => [
          String(number),
          hash,
          timestampMs === undefined ? '' : new Date(timestampMs).toISOString(),
        ]);
        printAnswer(options.json, commits, columns(['number', 'commit', 'time'], rows, 'rll'));
      }),
    );
};
