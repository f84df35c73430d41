// `spanline clock`: what is said of the clock. Nothing runs here.
import { type Command, Option } from 'commander';
import type { ClockOptions } from './clock-report.js';

/** Register the command. */
export const registerClock = (program: Command): void => {
  program
    .command('clock')
    .description('show the clock: source, frequency, per-core offsets, drift, cost of a reading')
    .option('--json', 'print one JSON object')
    .addOption(new Option('--measure', 'print this process alone; the command calls itself with it').hideHelp())
    .addHelpText(
      'after',
      '\nExamples:\n  $ spanline clock\n  $ spanline clock --json\n  $ SPANLINE_CLOCK=monotonic spanline clock',
    )
    .action(async (options: ClockOptions) => (await import('./clock-report.js')).reportClock(options));
};
