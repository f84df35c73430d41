// What the commands on graph files have in common: the file they open, Ctrl-C, and how a failure ends the command.
import type { Segment } from '@spanline/archive';
import { CompactGraph, CorruptError, GraphError, TruncatedError } from '@spanline/graph';
import { CommandError, ExitCode, interruptible } from '../exit-code.js';

/** Run a command: Ctrl-C ends it, and what is wrong with the file itself is a finding. */
export const runGraphCommand = (work: (signal: AbortSignal) => Promise<void>): Promise<void> =>
  interruptible(async (signal) => {
    try {
      await work(signal);
    } catch (error) {
      if (!(error instanceof CorruptError || error instanceof TruncatedError)) throw error;
      throw new CommandError(error.code, error.message, ExitCode.findings, error);
    }
  });

/** What `work` finds in a segment of an archive; undefined for any other file: what is wrong with that is found elsewhere. */
export const inSegment = async <T>(
  source: string,
  work: (segment: Segment) => T | Promise<T>,
): Promise<T | undefined> => {
  const { Segment } = await import('@spanline/archive');
  const segment = await Segment.open(source).catch((error: unknown) => {
    if (!(error instanceof GraphError)) throw error;
    return undefined;
  });
  try {
    return segment && (await work(segment));
  } finally {
    await segment?.close();
  }
};

/** What `work` makes of the graphs of a file. An unsorted segment has none, which is no damage. */
export const withoutUnsorted = async <T>(source: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GraphError && (await inSegment(source, ({ isSorted }) => !isSorted)))) throw error;
    const message = `${source} is an unsorted segment of an archive, which has no graph: spanline trace export writes what can be read of it`;
    throw new CommandError(error.code, message, ExitCode.store, error);
  }
};

/** Open a path or an address, run `work`, close it. */
export const withGraph = (
  source: string,
  work: (file: CompactGraph, signal: AbortSignal) => Promise<void>,
): Promise<void> =>
  runGraphCommand(async (signal) => {
    const file = await withoutUnsorted(source, () => CompactGraph.open(source, { signal }));
    try {
      await work(file, signal);
    } finally {
      await file.close();
    }
  });
