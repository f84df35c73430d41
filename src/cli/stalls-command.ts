// `spanline stalls`: when the event loop was busy for long, with whom, and who waited for it.
import type { Command } from 'commander';
import { archiveStalls, type ProcessStall, snapshotStalls } from '../archive/lane/loop-source.js';
import { processLabel } from '../archive/lane/process-label.js';
import { drawStalls } from '../flight-recorder/division/draw-stalls.js';
import { COLOURED, PLAIN } from '../formats/terminal/palette.js';
import { type ArchiveCommandOptions, withArchive, withArchiveOption } from './archive-session.js';
import { ExitCode, endWith } from './exit-code.js';
import { wholeNumber } from './options.js';
import { note, writeOut } from './output.js';
import { snapshotIn } from './snapshot/read-snapshot.js';
import { wantsColour } from './terminal.js';
import { time } from './trace/search-options.js';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1000;

interface StallsOptions extends ArchiveCommandOptions {
  readonly limit: number;
  readonly from?: bigint;
  readonly to?: bigint;
}

const NS_PER_US = 1000n;

const print = async (found: readonly ProcessStall[], isJson: boolean): Promise<void> => {
  if (isJson)
    for (const { process, ...stall } of found)
      await writeOut(`${JSON.stringify({ process: JSON.parse(process), ...stall })}\n`);
  else {
    const { bold } = wantsColour() ? COLOURED : PLAIN;
    await writeOut(
      drawStalls(
        found.map((stall) => ({ ...stall, process: processLabel(stall.process) })),
        bold,
      ),
    );
  }
};

/** Register the command. */
export const registerStalls = (program: Command): void => {
  withArchiveOption(program.command('stalls [file]'))
    .description('the worst stalls of the event loop, of a snapshot or of an archive: who had it, and who waited')
    .option('-n, --limit <stalls>', 'no more than this', wholeNumber(1, MAX_LIMIT), DEFAULT_LIMIT)
    .option('--from <time>', 'stalls that were not over before: 2026-01-31T12:00:00Z, or 15m for as long ago', time)
    .option('--to <time>', 'stalls that had begun by then', time)
    .option('--json', 'print JSON, one object a line')
    .addHelpText(
      'after',
      `
The longest first. "untraced" is work that no span covers, "unknown" is time of which nothing is known but that the loop was busy.
A trace waited while it had a span open and others had the loop. --json prints times in microseconds. NO_COLOR=1 turns colours off.

Examples:
  $ spanline stalls last.flight
  $ spanline stalls -a ./traces
  $ spanline stalls -a ./traces --from 15m --limit 3
  $ spanline stalls -a ./traces --json | jq '.holders[0].name'

Exit codes: 0 found, 1 there was no stall or no lane was kept, 2 wrong usage, 3 the archive, a part of it or the file cannot be read.`,
    )
    .action(async (file: string | undefined, options: StallsOptions) => {
      const { limit, from = 0n, to = BigInt(Number.MAX_SAFE_INTEGER) * NS_PER_US, json = false } = options;
      let count = 0;
      if (file !== undefined) {
        const found = snapshotStalls(await snapshotIn(file), limit);
        await print(found ?? [], json);
        if (found === undefined) note('the snapshot has no lane');
        else if (found.length === 0) note('there was no stall');
        if (found === undefined || found.length === 0) endWith(ExitCode.findings);
        return;
      }
      await withArchive(options, async (archive, signal) => {
        const window = { fromUs: Number(from / NS_PER_US), toUs: Number(to / NS_PER_US) };
        const found = await archiveStalls(archive, window, limit, { signal, note });
        count = found?.length ?? 0;
        await print(found ?? [], json);
        if (found === undefined) note('the archive has no lane of that time');
        else if (count === 0) note('there was no stall in that time');
      });
      if (count === 0 && process.exitCode !== ExitCode.store) endWith(ExitCode.findings);
    });
};
