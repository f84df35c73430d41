// The options that say what the page shows beside an archive, of `spanline ui` and `spanline serve`. Every command line loads them: nothing is opened here.
import type { Command } from 'commander';

/** What the page shows beside an archive. */
export interface SourceOptions {
  readonly store?: string;
  readonly goldStore?: string;
  readonly profiles?: string;
  readonly history?: string;
}

/** Give a command the options that say what the page shows. */
export const withSources = (command: Command): Command =>
  command
    .option(
      '-s, --store <place>',
      'Perf store: directory or bigtable://project/instance/table (or SPANLINE_PERF_STORE)',
    )
    .option('--history <path>', 'history file of spanline bench run, or a directory of such files')
    .option('--gold-store <place>', 'Gold store, named in the same way (or SPANLINE_GOLD_STORE)')
    .option('--profiles <dir>', 'directory of profiles, as spanline profile writes them');
