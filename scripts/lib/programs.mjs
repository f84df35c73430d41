// Programs of others that tests and benchmarks use: found on this machine, started so that they never outlive who started them, even when
// that process is killed.
import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export const isProgram = (path) => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

/** @returns {string | undefined} */
export const onPath = (name) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .filter((dir) => dir !== '')
    .map((dir) => join(dir, name))
    .find(isProgram);

/** The program that a variable of the environment names. Throws when it names something else. */
export const namedBy = (variable) => {
  const named = process.env[variable];
  if (!named) return undefined;
  if (!isProgram(named)) throw new Error(`${variable} names ${named}, which is not a program`);
  return named;
};

// Ends the program when our end of the pipe closes, which happens however this process dies.
const GUARDED = 'exec 3<&0; "$@" & pid=$!; { cat <&3 >/dev/null; kill -9 $pid; } 2>/dev/null & wait $pid';

/**
 * Start a program; it ends with this process, or when its standard input is closed. Its output is piped.
 * @param {string} program
 * @param {readonly string[]} args
 */
export const spawnGuarded = (program, args) =>
  spawn('/bin/sh', ['-c', GUARDED, 'sh', program, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });

/** Let this process end while the child runs. */
export const letGo = (child) => {
  child.unref();
  for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.unref();
};
