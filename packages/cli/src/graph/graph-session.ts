// What the commands on graph files have in common: the file they open, Ctrl-C, and how a failure ends the command.
import { CompactGraph, CorruptError, GraphError, TruncatedError } from '@spanline/graph';
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

/** Whether a path or an address is of an unsorted segment of an archive; not, where it cannot be read. */
const isUnsorted = async (source: string): Promise<boolean> => {
  const { Segment } = await import('@spanline/archive');
  try {
    const segment = await Segment.open(source);
    await segment.close();
    return !segment.isSorted;
  } catch (error) {
    if (error instanceof GraphError) return false;
    throw error;
  }
};

/** What `work` makes of the graphs of a file. An unsorted segment has none, which is no damage. */
export const withoutUnsorted = async <T>(source: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GraphError && (await isUnsorted(source)))) throw error;
    const message = `${source} is an unsorted segment of an archive, which has no graph: spanline trace export writes what can be read of it`;
    throw new CommandError(error.code, message, ExitCode.store, { cause: error });
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
