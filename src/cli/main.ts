#!/usr/bin/env node
// The `spanline` command: runs the program and turns its outcome into an exit code. Nothing else belongs here.
import { CommanderError } from 'commander';
import { TraceDbError } from '../tracedb/index.js';
import { OutputClosed, watchOutput } from './closed-output.js';
import { CommandError, ExitCode } from './exit-code.js';
import { createProgram } from './program.js';

/** Print what a person needs of the error; the code to exit with. */
function explain(error: unknown): number {
  // Commander has printed its own message by now; its exit code 0 stands for --help and --version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
  if (error instanceof CommandError) {
    process.stderr.write(`spanline: ${error.message}\n`);
    return error.exitCode;
  }
  if (error instanceof TraceDbError) {
    process.stderr.write(`spanline: ${error.message}\n`);
    return error.code === 'ERR_SPANLINE_INVALID_INPUT' || error.code === 'ERR_SPANLINE_TABLE_LIMIT'
      ? ExitCode.usage
      : ExitCode.store;
  }
  process.stderr.write(`spanline: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return ExitCode.internal;
}

// A closed pipe is no failure; a full disk is, and what was printed is of no use.
watchOutput((error) => {
  process.stderr.write(`spanline: standard output cannot be written: ${error.message}\n`);
  process.exit(ExitCode.store);
});

try {
  await createProgram().parseAsync(process.argv);
} catch (error) {
  if (!(error instanceof OutputClosed)) process.exitCode = explain(error);
}
