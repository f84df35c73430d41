#!/usr/bin/env node
// The `spanline` command: the process of a command line. Nothing else belongs here.
import { runCommandLine, say } from './command-line.js';
import { ExitCode } from './exit-code.js';
import { watchOutput } from './output.js';

// A closed pipe is not a failure; a full disk is, and what was printed is of no use.
watchOutput((error) => {
  say(`standard output cannot be written: ${error.message}`);
  process.exit(ExitCode.store);
});

void runCommandLine(process.argv.slice(2));
