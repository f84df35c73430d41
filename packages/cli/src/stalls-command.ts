// `spanline stalls`: what is said of stalls. Nothing runs here.
import type { Command } from 'commander';
import { wholeNumber, withArchiveOption } from './options.js';
import type { StallsOptions } from './print-stalls.js';
import { endTime, time } from './trace/search-options.js';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1000;

/** Register the command. */
export const registerStalls = (program: Command): void => {
  withArchiveOption(program.command('stalls [file]'))
    .description('the worst stalls of the event loop, of a snapshot or of an archive: who had it, and who waited')
    .option('-n, --limit <stalls>', 'no more than this', wholeNumber(1, MAX_LIMIT), DEFAULT_LIMIT)
    .option('--from <time>', 'stalls that were not over before: 2026-01-31T12:00:00Z, or 15m for as long ago', time)
    .option('--to <time>', 'stalls that had begun by then; a day means all of it', endTime)
    .option('--json', 'print JSON, one object a line')
    .addHelpText(
      'after',
      `
The longest first. "untraced" is work that no span covers, "unknown" is time of which nothing is known but that the loop was busy. A full
thread pool is listed as well: requests of files, names, crypto and compression had to wait for a thread.
A trace waited while it had a span open and others had the loop. --json prints times in microseconds. NO_COLOR=1 turns colours off.

Examples:
  $ spanline stalls last.flight
  $ spanline stalls -a ./traces
  $ spanline stalls -a ./traces --from 15m --limit 3
  $ spanline stalls -a ./traces --json | jq '.holders[0].name'

Exit codes: 0 found, 1 there was no stall or no timeline was kept, 2 wrong usage, 3 the archive, a part of it or the file cannot be read.`,
    )
    .action(async (file: string | undefined, options: StallsOptions) =>
      (await import('./print-stalls.js')).printStalls(file, options),
    );
};
