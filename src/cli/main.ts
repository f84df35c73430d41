#!/usr/bin/env node
import { CommanderError } from 'commander';
// The `spanline` command: runs the program and turns its outcome into an exit code. Nothing else belongs here.
import { escapeLines } from '../base/text/escape-text.js';
import { TraceDbError, type TraceDbErrorCode } from '../tracedb/index.js';
import { OutputClosed, watchOutput } from './closed-output.js';
import { CommandError, ExitCode, endWith } from './exit-code.js';
import { createProgram } from './program.js';

/** What of the trace databases is no failure of a store. */
const EXIT_CODES: Partial<Record<TraceDbErrorCode, ExitCode>> = {
  ERR_SPANLINE_INVALID_INPUT: ExitCode.usage,
  ERR_SPANLINE_TABLE_LIMIT: ExitCode.usage,
  ERR_SPANLINE_NOT_FOUND: ExitCode.findings,
};

const say = (text: string): void => {
  process.stderr.write(`spanline: ${escapeLines(text)}\n`);
};

/** Print what a person needs of the error; the code to exit with. */
function explain(error: unknown): ExitCode {
  // Commander has printed its own message by now; its exit code 0 stands for --help and --version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
  if (error instanceof CommandError) {
    say(error.message);
    return error.exitCode;
  }
  if (error instanceof TraceDbError) {
    say(error.message);
    return EXIT_CODES[error.code] ?? ExitCode.store;
  }
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return ExitCode.internal;
}

// A closed pipe is no failure; a full disk is, and what was printed is of no use.
watchOutput((error) => {
  say(`standard output cannot be written: ${error.message}`);
  process.exit(ExitCode.store);
});

try {
  await createProgram().parseAsync(process.argv);
} catch (error) {
  if (!(error instanceof OutputClosed)) endWith(explain(error));
}
