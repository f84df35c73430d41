// What the commands on graph files have in common: the file they open, Ctrl-C, and how a failure ends the command.
import { CompactGraph, CorruptError, TruncatedError } from '@spanline/graph';
import { CommandError, ExitCode, interruptible } from '../exit-code.js';

/** Run a command: Ctrl-C ends it, and what is wrong with the file itself is a finding. */
export const runGraphCommand = (work: (signal: AbortSignal) => Promise<void>): Promise<void> =>
  interruptible(async (signal) => {
    try {
      await work(signal);
    } catch (error) {
      if (!(error instanceof CorruptError || error instanceof TruncatedError)) throw error;
      throw new CommandError(error.code, error.message, ExitCode.findings, { cause: error });
    }
  });

/** Open a path or an address, run `work`, close it. */
export const withGraph = (
  source: string,
  work: (file: CompactGraph, signal: AbortSignal) => Promise<void>,
): Promise<void> =>
  runGraphCommand(async (signal) => {
    const file = await CompactGraph.open(source, { signal });
    try {
      await work(file, signal);
    } finally {
      await file.close();
    }
  });
