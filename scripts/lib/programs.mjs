// Programs of others that tests and benchmarks use: found on this machine, started so that they never outlive who started them, even when
// that process is killed.
import { spawn } from 'node:child_process';
import { accessSync, constants, rmSync, statSync } from 'node:fs';
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

// Ends the program by the signal when our end of the pipe closes, which happens however this process dies.
const guardedBy = (signal) =>
  `exec 3<&0; "$@" & pid=$!; { cat <&3 >/dev/null; kill -${signal} $pid; } 2>/dev/null & wait $pid`;

/**
 * Start a program; it ends with this process, or when its standard input is closed. Its output is piped.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions & { signal?: 'KILL' | 'TERM' | 'INT' }} [options]
 */
export const spawnGuarded = (program, args, { signal = 'KILL', ...options } = {}) =>
  spawn('/bin/sh', ['-c', guardedBy(signal), 'sh', program, ...args], { ...options, stdio: ['pipe', 'pipe', 'pipe'] });

/** Let this process end while the child runs. */
export const letGo = (child) => {
  child.unref();
  for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.unref();
};

const START_MS = 60_000;
const LOOK_MS = 50;
/** Somebody else may take a port between its choice and its use. */
const ATTEMPTS = 3;

/**
 * Start a server, guarded, and resolve when it is up: with what ends it, and with its `folder`, if it has one, which goes then. Throws what it
 * printed when it does not come up.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ folder?: string, isUp: () => boolean | Promise<boolean> } & Parameters<typeof spawnGuarded>[2]} options
 * @returns {Promise<() => Promise<void>>}
 */
export async function startGuarded(program, args, { folder, isUp, ...options }) {
  const child = spawnGuarded(program, args, options);
  let output = '';
  const keep = (chunk) => {
    output = `${output}${chunk}`.slice(-10_000);
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  let isOver = false;
  const exited = new Promise((resolve) => {
    child.once('error', resolve);
    child.once('exit', resolve);
  }).then(() => {
    isOver = true;
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });
  const stop = async () => {
    child.ref();
    child.stdin.end();
    await exited;
  };
  const end = Date.now() + START_MS;
  while (!(await isUp())) {
    if (isOver || Date.now() > end) {
      await stop();
      throw new Error(`${program} did not start: ${output.trim() || 'no output'}`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  letGo(child);
  return stop;
}

/** What `start` gives, which chooses its ports each time; again where another had one of them first. */
export async function withFreePorts(start) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start();
    } catch (error) {
      if (attempt === ATTEMPTS || !/address already in use/i.test(error.message)) throw error;
    }
  }
}

/** Whether a server answers, and rightly. */
export async function answers(url, isRight = () => true) {
  try {
    return isRight(await fetch(url, { signal: AbortSignal.timeout(1000) }));
  } catch {
    return false;
  }
}
