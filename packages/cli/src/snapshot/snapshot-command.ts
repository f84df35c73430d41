// `spanline snapshot`: of a process that runs, and the tree of the commands that read one. Nothing runs here.
import type { Command } from 'commander';
import { numberFrom, wholeNumber } from '../options.js';
import { addSubcommands, type Subcommands, type Words } from '../subcommands.js';
import type { TakeCommandOptions } from './snapshot-files.js';

const SUBCOMMANDS: Subcommands = {
  show: () => import('./show-command.js'),
  export: () => import('./export-command.js'),
  recover: () => import('./recover-command.js'),
};

/** Register the commands. */
export const registerSnapshot = async (program: Command, words: Words): Promise<void> => {
  const snapshot = program
    .command('snapshot')
    .description('the last minute of a process, as its flight recorder holds it')
    .argument('<pid>', 'process id', wholeNumber(1))
    .option('-o, --out <file>', 'file to write (default: snapshot-PID.flight)')
    .option('--timeout <seconds>', 'wait for the process no longer than this', numberFrom(0.1, 3600), 30)
    .option('--port <number>', 'port of the inspector, where it is not found', wholeNumber(1, 65_535))
    .option('--json', 'print what was written as JSON')
    .enablePositionalOptions()
    .addHelpText(
      'after',
      `
The process needs a flight recorder: SPANLINE_FLIGHT_RECORDER=60s,64MiB with spanline/register, or configure({ flightRecorder: {} }). SIGUSR1
opens its inspector; it is closed again at the end. The process writes the file itself.

Examples:
  $ spanline snapshot 4711 -o last.flight                  the last minute of a process that runs
  $ spanline snapshot show last.flight                     why it was taken, and the slowest traces
  $ spanline snapshot show last.flight --trace 4bf9        one of them as a waterfall
  $ spanline snapshot export last.flight --format perfetto -o last.perfetto-trace
  $ spanline snapshot recover /var/lib/shop/flight         what a process that was killed has left

Exit codes: 0 done, 2 wrong usage or the process has no recorder, 3 it does not answer or the file cannot be written.`,
    )
    .action(async (pid: number, options: TakeCommandOptions) =>
      (await import('./snapshot-files.js')).saveSnapshot(pid, options),
    );
  await addSubcommands(snapshot, SUBCOMMANDS, words);
};
