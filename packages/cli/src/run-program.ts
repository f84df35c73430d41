// A program that a command starts and looks into. Its input, output, signals and exit code are its own; nothing of it may be read or held
// back here.
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { attempt, targetFailure } from 'spanline/internal/base';
import { packageFolder } from './package.js';

const SIGNAL_EXIT = 128;
const FORWARDED: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGUSR2'];

const urlOf = (folder: string, name: string, owner: string): string => {
  const file = join(folder, 'dist/esm', name);
  if (!existsSync(file)) throw targetFailure(`${file} is missing: install ${owner} again`);
  return pathToFileURL(file).href;
};

/** The address of a built file of this package, such as `profile/preload.js`, for processes that load it by path. */
export const builtFileUrl = (name: string): string => urlOf(packageFolder, name, '@spanline/cli');

/** Where this package is, for programs that take from what it has installed. */
export const ownManifest = join(packageFolder, 'package.json');

/** The address of `spanline/register`, for programs that cannot find it by its name: they may have nothing of ours installed. */
export const registerUrl = (): string => {
  const manifest = createRequire(import.meta.url).resolve('spanline/package.json');
  return urlOf(dirname(manifest), 'register/preload.js', 'spanline');
};

/** This environment, in which every Node process loads the file at `url` first, and `variables`. */
export const withPreload = (url: string, variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv => {
  const preload = `--import ${JSON.stringify(url)}`;
  const options = [process.env.NODE_OPTIONS, preload].filter(Boolean).join(' ');
  return { ...process.env, NODE_OPTIONS: options, ...variables };
};

/** Node 22 keeps what is current in frames, as Node 24 does, only when it is asked to: a span is entered at half the cost then. */
const FRAMES = '--experimental-async-context-frame';

/** A Node: the options that it takes from its environment, and its program. */
interface NodeProgram {
  readonly allowed: { has(option: string): boolean };
  readonly path: string;
}

const THIS_NODE: NodeProgram = { allowed: process.allowedNodeEnvironmentFlags, path: process.execPath };

const realPath = (path: string): string | undefined => attempt(() => realpathSync(path));

/** The program of a name in PATH, links followed. */
const programOf = (name: string, environment: NodeJS.ProcessEnv): string | undefined =>
  name.includes('/')
    ? realPath(name)
    : (environment.PATH ?? '')
        .split(delimiter)
        .map((folder) => realPath(join(folder, name)))
        .find((path) => path !== undefined);

/**
 * This environment, in which Node keeps frames where it has to be asked. Only where the Node that the program finds is this one: another may refuse
 * to start with the option, as Node 20 and 24 do.
 */
export const withFrames = (
  environment: NodeJS.ProcessEnv,
  [file]: readonly string[],
  { allowed, path }: NodeProgram = THIS_NODE,
): NodeJS.ProcessEnv => {
  const { NODE_OPTIONS = '', SPANLINE_CONTEXT } = environment;
  if (!allowed.has(FRAMES) || SPANLINE_CONTEXT === 'als' || NODE_OPTIONS.includes('async-context-frame'))
    return environment;
  const own = realPath(path);
  const isOther = /^node(\.exe)?$/.test(basename(file)) && programOf(file, environment) !== own;
  if (isOther || programOf('node', environment) !== own) return environment;
  return { ...environment, NODE_OPTIONS: `${NODE_OPTIONS} ${FRAMES}`.trim() };
};

/** Runs the program and gives the code to exit with. */
export const runProgram = (command: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> =>
  new Promise((done, reject) => {
    const [file, ...args] = command;
    const child = spawn(file, args, { stdio: 'inherit', env: environment });
    const forwards = FORWARDED.map((signal) => [signal, () => child.kill(signal)] as const);
    for (const [signal, forward] of forwards) process.on(signal, forward);
    // A terminal sends Ctrl-C to the program too: it ends in its own way, and this process after it.
    const ignore = (): void => undefined;
    process.on('SIGINT', ignore);
    child.on('error', (error) => reject(targetFailure(`${file} cannot be started: ${error.message}`, error)));
    child.on('close', (code, signal) => {
      for (const [name, forward] of forwards) process.off(name, forward);
      process.off('SIGINT', ignore);
      done(signal === null ? (code ?? 0) : SIGNAL_EXIT + constants.signals[signal]);
    });
  });
