// Runs a child process for the scripts. A child's standard output never mixes with the script's own unless asked for:
// `npm run -s bench -- SUITE --json` promises that only one JSON object is printed there.
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The repository's root, with a trailing slash. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** TypeScript's compiler, native since 7: a third of the time. What looks into sources takes `typescript`, for 7 has no interface for that yet. */
export const COMPILER = fileURLToPath(new URL('../../node_modules/typescript-7/bin/tsc', import.meta.url));

const failedAs = (command, args, status, signal) =>
  new Error(`${[command, ...args].join(' ')} failed (${signal ?? `exit code ${status}`})`);

/**
 * Run to the end; the child's standard output goes to our standard error.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 */
export function runQuietly(command, args, { cwd = root, env = process.env } = {}) {
  const { status, signal, error } = spawnSync(command, args, { cwd, env, stdio: ['ignore', 2, 2] });
  if (error) throw error;
  if (status !== 0) throw failedAs(command, args, status, signal);
}

/** The same, while this process goes on: resolves when the child has ended well, and rejects when not. */
export function runBeside(command, args, { cwd = root, env = process.env } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 2, 2] });
    child.on('error', reject).on('exit', (status, signal) => {
      if (status === 0) resolve();
      else reject(failedAs(command, args, status, signal));
    });
  });
}

/**
 * Hand the terminal to a child, pass signals on, and end as it ends.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 */
export function become(command, args, { cwd = root, env = process.env } = {}) {
  const child = spawn(command, args, { cwd, env, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = signal === null ? code : 1;
  });
}

/** End with the message alone: a stack trace of the build script helps nobody. */
export function failWith(error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
