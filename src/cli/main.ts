#!/usr/bin/env node
import { CommanderError } from 'commander';
// The `spanline` command: runs the program and turns its outcome into an exit code. Nothing else belongs here.
import { escapeLines } from '../base/text/escape-text.js';
import { ExitCode, endWith, exitCodeOf } from './exit-code.js';
import { OutputClosed, watchOutput } from './output.js';
import { createProgram } from './program.js';

const say = (text: string): void => {
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

// A closed pipe is no failure; a full disk is, and what was printed is of no use.
watchOutput((error) => {
  say(`standard output cannot be written: ${error.message}`);
  process.exit(ExitCode.store);
});

createProgram(process.argv.slice(2))
  .then((program) => program.parseAsync(process.argv))
  .catch((error: unknown) => {
    if (!(error instanceof OutputClosed)) endWith(explain(error));
  });
