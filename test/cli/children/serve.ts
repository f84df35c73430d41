// The command `serve` alone, with errors and exit codes as the whole program has them.
import { Command, CommanderError } from 'commander';
import { ExitCode, exitCodeOf } from '../../../src/cli/exit-code.js';
import { registerServe } from '../../../src/cli/serve-command.js';

const program = new Command('spanline').exitOverride();
registerServe(program);
try {
  await program.parseAsync(process.argv);
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
  else {
    process.stderr.write(`spanline: ${(error as Error).message}\n`);
    process.exitCode = exitCodeOf(error);
  }
}
