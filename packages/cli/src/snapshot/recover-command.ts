// `spanline snapshot recover`: what a process that is gone has left in the directory of its recorder.
import type { Command } from 'commander';
import { writeSnapshot } from 'spanline/flight-recorder';
import { interruptible } from '../exit-code.js';
import { requireWritable } from '../files.js';
import { wholeNumber } from '../options.js';
import { note, printAnswer } from '../output.js';
import { factsText, snapshotFacts } from './snapshot-facts.js';
import { snapshotLeftIn } from './snapshot-files.js';

interface RecoverOptions {
  readonly out?: string;
  readonly pid?: number;
  readonly limit: number;
  readonly json?: boolean;
}

/** Register the command. */
export const register = (snapshot: Command): void => {
  snapshot
    .command('recover <directory>')
    .description('what a process that was killed has left with the option "file" of its recorder')
    .option('-o, --out <file>', 'write it to one file, which the other commands read')
    .option(
      '--pid <number>',
      'of this process (default: of those that are gone, the one that began last)',
      wholeNumber(1),
    )
    .option('-n, --limit <traces>', 'list no more traces than this', wholeNumber(1), 20)
    .option('--json', 'print what is there as JSON')
    .addHelpText(
      'after',
      `
The directory is what SPANLINE_FLIGHT_FILE or the option "file" of the recorder says. It is only read. Rows that the death of the process
has torn are left out and counted; spans that had not ended are marked as open. A process that still runs, such as one whose event loop is
blocked, is read where none that is gone has left anything, and with --pid.

Examples:
  $ spanline snapshot recover /var/lib/shop/flight
  $ spanline snapshot recover /var/lib/shop/flight -o killed.flight && spanline snapshot show killed.flight

Exit codes: 0 done, 1 nothing is there, 2 wrong usage, 3 the directory or the file failed.`,
    )
    .action((directory: string, { out, pid, limit, json }: RecoverOptions) =>
      interruptible(async (signal) => {
        if (out !== undefined) requireWritable(out);
        const left = await snapshotLeftIn(directory, pid);
        const facts = snapshotFacts(left, limit);
        if (out !== undefined) await writeSnapshot(left, out, { format: 'flight', signal });
        printAnswer(json, facts, factsText(facts));
        if (out !== undefined) note(`written to ${out}; see: spanline snapshot show ${out}`);
      }),
    );
};
