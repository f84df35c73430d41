// When the event loop was busy for long, with whom, and who waited for it.
import { archiveStalls, type ProcessStall, processLabel, snapshotStalls } from '@spanline/archive/internal';
import { COLOURED, PLAIN } from 'spanline/internal/formats';
import { drawStalls } from 'spanline/internal/timeline';
import { withArchive } from './archive-session.js';
import { ExitCode, endWith } from './exit-code.js';
import { glyphsOf } from './glyphs.js';
import type { ReadOptions } from './options.js';
import { note, wantsColour, writeOut } from './output.js';
import { snapshotIn } from './snapshot/snapshot-files.js';

interface StallsOptions extends ReadOptions {
  readonly limit: number;
  readonly from?: bigint;
  readonly to?: bigint;
  readonly json?: boolean;
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
        glyphsOf(),
      ),
    );
  }
};

const NO_TIMELINE =
  'the archive has no timeline of that time: a process keeps its own there that runs under spanline run --archive DIR, or with SPANLINE_ARCHIVE=DIR under spanline/register';

/** Prints the stalls of a snapshot, or of an archive where no file is given. */
export const printStalls = async (file: string | undefined, options: StallsOptions): Promise<void> => {
  const { limit, from = 0n, to = BigInt(Number.MAX_SAFE_INTEGER) * NS_PER_US, json = false } = options;
  const window = { fromUs: Number(from / NS_PER_US), toUs: Number(to / NS_PER_US) };
  const found =
    file === undefined
      ? await withArchive(options, (archive, signal) => archiveStalls(archive, window, limit, { signal, note }))
      : snapshotStalls(await snapshotIn(file), window, limit);
  await print(found ?? [], json);
  if (found !== undefined && found.length > 0) return;
  if (found !== undefined) note('there was no stall in that time');
  else note(file === undefined ? NO_TIMELINE : 'the snapshot has no timeline');
  endWith(ExitCode.findings);
};
