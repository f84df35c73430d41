// What the commands on graph files have in common: the file they open, Ctrl-C, and how a failure ends the command.
import { CompactGraph, GraphError, type GraphErrorCode } from '../../graph/index.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { interruptible } from '../interrupt.js';

/** What is wrong with the file is told from what is wrong with the command line or with what it was to be built of. */
const EXIT_CODES: Partial<Record<GraphErrorCode, ExitCode>> = {
  ERR_SPANLINE_GRAPH_CORRUPT: ExitCode.findings,
  ERR_SPANLINE_GRAPH_TRUNCATED: ExitCode.findings,
  ERR_SPANLINE_GRAPH_BAD_OPTIONS: ExitCode.usage,
  ERR_SPANLINE_GRAPH_BAD_KEY: ExitCode.usage,
  ERR_SPANLINE_GRAPH_BAD_VALUE: ExitCode.usage,
  ERR_SPANLINE_GRAPH_DUPLICATE_KEY: ExitCode.usage,
  ERR_SPANLINE_GRAPH_CYCLE: ExitCode.usage,
};

const toCommandError = (error: unknown): unknown => {
  if (error instanceof GraphError)
    return new CommandError(error.code, error.message, EXIT_CODES[error.code] ?? ExitCode.store, { cause: error });
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) return error;
  return new CommandError('ERR_SPANLINE_FILE', message, ExitCode.store, { cause: error });
};

/** Run a command: Ctrl-C ends it, and what fails ends it with the exit code that says why. */
export const runGraphCommand = (work: (signal: AbortSignal) => Promise<void>): Promise<void> =>
  interruptible(async (signal) => {
    try {
      await work(signal);
    } catch (error) {
      throw signal.aborted ? signal.reason : toCommandError(error);
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
