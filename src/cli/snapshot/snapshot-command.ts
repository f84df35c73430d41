// `spanline snapshot`: takes a snapshot of a process that runs; and the tree of the commands that read one.
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { formatBytes, formatDuration } from '../../formats/terminal/units.js';
import { interruptible } from '../interrupt.js';
import { numberFrom, wholeNumber } from '../options.js';
import { note, printAnswer } from '../output.js';
import { Progress } from '../progress.js';
import { requireWritable } from '../require-writable.js';
import { registerExport } from './export-command.js';
import { registerRecover } from './recover-command.js';
import { registerShow } from './show-command.js';
import { takeSnapshot } from './take-snapshot.js';

interface TakeCommandOptions {
  readonly out?: string;
  readonly timeout: number;
  readonly port?: number;
  readonly json?: boolean;
}

const NS_PER_MS = 1e6;

const run = (pid: number, { out, timeout, port, json }: TakeCommandOptions): Promise<void> => {
  const file = out ?? `snapshot-${pid}.flight`;
  return interruptible(async (signal) => {
    requireWritable(file);
    const progress = new Progress();
    progress.show(`waiting for process ${pid}`);
    const taken = await takeSnapshot(pid, resolve(file), { port, timeoutSeconds: timeout, signal }).finally(() =>
      progress.clear(),
    );
    const { spanCount, heldMs, bytes } = taken;
    const held = `${spanCount} spans of the last ${formatDuration(heldMs * NS_PER_MS)}, ${formatBytes(bytes)}`;
    if (json) printAnswer(json, { file, pid, ...taken }, '');
    else note(`${held}, in ${file}; see: spanline snapshot show ${file}`);
  });
};

/** Register the commands. */
export const registerSnapshot = (program: Command): void => {
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
    .action(run);
  registerShow(snapshot);
  registerExport(snapshot);
  registerRecover(snapshot);
};
