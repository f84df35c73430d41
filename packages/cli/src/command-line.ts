// One command line, from its words to its exit code: what the `spanline` command is but for its process, so that tests call it in theirs. Must not end
// the process: what a command has begun to print is still on its way.
import { CommanderError } from 'commander';
import { escapeLines } from 'spanline/internal/base';
import { ExitCode, endWith, exitCodeOf } from './exit-code.js';
import { OutputClosed } from './output.js';
import { createProgram } from './program.js';

/** Says what went wrong, on standard error. */
export const say = (text: string): void => {
  process.stderr.write(`spanline: ${escapeLines(text)}\n`);
};

/** Print what a person needs of the error; the code to exit with. */
function explain(error: unknown): ExitCode {
  // Commander has printed its own message by now; its exit code 0 stands for --help and --version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
  const code = exitCodeOf(error);
  if (error instanceof Error) say(code === ExitCode.internal ? (error.stack ?? error.message) : error.message);
  else say(String(error));
  return code;
}

/** Runs the command that `args` name, and sets the process's exit code. Never rejects. */
export const runCommandLine = async (args: readonly string[]): Promise<void> => {
  try {
    const program = await createProgram(args);
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof OutputClosed)) endWith(explain(error));
  }
};
