// `spanline` as tests run it: as a function in this process, with its streams, environment and directory given; or, where the process is what is
// asked about (pipes, signals, programs that it starts, which inherit its output), built and in a process of its own.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { root } from '../../../../test/support/built.js';

export { buildFirst, root, scratch } from '../../../../test/support/built.js';

/** What a command left behind. */
export interface Outcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a command is run. */
export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** What it reads from its standard input; nothing when left out. */
  readonly stdin?: Uint8Array;
  /** Say that a person looks at what it prints. */
  readonly isTerminal?: boolean;
  /** Leave the standard input open behind that. */
  readonly keepsStdin?: boolean;
  /** Called once it runs; gives it its signals. */
  readonly onStart?: (kill: (signal: NodeJS.Signals) => void) => void;
  /** Called with the first that it prints: what a test waits for in place of a time that a busy machine makes too short. */
  readonly onOutput?: (kill: (signal: NodeJS.Signals) => void, output: string) => void;
}

/** How a command is run in a process of its own. */
export interface ProcessOptions extends RunOptions {
  /** Another installation of the package. */
  readonly program?: string;
}

/** What a test says of the environment where it says nothing. */
const ENVIRONMENT = { NODE_OPTIONS: '', SPANLINE_PERF_STORE: '' };
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const;

/** Takes what is printed as slowly as a pipe would, so that whoever prints much has to wait. */
class Printed extends Writable {
  text = '';
  readonly #decoder = new StringDecoder('utf8');

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += this.#decoder.write(bytes);
    this.emit('printed', this.text);
    setImmediate(done);
  }

  /** All of it. */
  async whole(): Promise<string> {
    await new Promise<void>((resolve) => this.end(resolve));
    return this.text + this.#decoder.end();
  }
}

const input = ({ stdin, keepsStdin = false }: RunOptions): Readable => {
  const stream = new Readable({ read() {} });
  if (stdin !== undefined) stream.push(stdin);
  if (!keepsStdin) stream.push(null);
  return stream;
};

/** The process as a command finds it; puts it back as it was. */
const lend = (
  streams: Readonly<Record<string, Readable | Writable>>,
  { env, cwd = root }: RunOptions,
): (() => void) => {
  const { exitCode } = process;
  const directory = process.cwd();
  const environment = { ...process.env };
  const descriptors = Object.keys(streams).map((name) => Reflect.getOwnPropertyDescriptor(process, name));
  const listeners = SIGNALS.map((name) => process.listeners(name));
  process.exitCode = undefined;
  process.chdir(cwd);
  Object.assign(process.env, ENVIRONMENT, env);
  for (const [name, value] of Object.entries(streams)) {
    Object.defineProperty(process, name, { value, configurable: true });
  }
  return () => {
    for (const [i, name] of Object.keys(streams).entries()) {
      Object.defineProperty(process, name, descriptors[i] as PropertyDescriptor);
    }
    for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
    Object.assign(process.env, environment);
    process.chdir(directory);
    process.exitCode = exitCode;
    for (const [i, name] of SIGNALS.entries()) {
      for (const one of process.listeners(name)) if (!listeners[i].includes(one)) process.off(name, one);
    }
  };
};

/** Gives this process's command a signal, which it must listen to: else all tests of the process would end. */
const signalHere = (name: NodeJS.Signals): void => {
  if (!process.emit(name, name)) throw new Error(`the command does not listen to ${name}`);
};

const runHere = async (args: readonly string[], options: RunOptions): Promise<Outcome> => {
  // Many files take no more of this one than a scratch directory.
  const { runCommandLine } = await import('../../src/command-line.js');
  const { onStart, onOutput } = options;
  const stdout = Object.assign(new Printed(), { isTTY: options.isTerminal });
  const stderr = new Printed();
  if (onOutput !== undefined) stdout.once('printed', (text: string) => onOutput(signalHere, text));
  const giveBack = lend({ stdin: input(options), stdout, stderr }, options);
  try {
    const ended = runCommandLine(args);
    onStart?.(signalHere);
    await ended;
    const printed = { stdout: await stdout.whole(), stderr: await stderr.whole() };
    return { code: Number(process.exitCode ?? 0), signal: null, ...printed };
  } finally {
    giveBack();
  }
};

let last: Promise<unknown> = Promise.resolve();

/** Run `spanline` with these arguments in this process, after whatever runs in it. */
export const spanline = (args: readonly string[], options: RunOptions = {}): Promise<Outcome> => {
  const outcome = last.then(() => runHere(args, options));
  last = outcome.catch(() => {});
  return outcome;
};

export const PROGRAM = join(root, 'packages/cli/dist/esm/main.js');

/** Run the built `spanline` with these arguments in a process of its own, with pipes. */
export const spanlineProcess = (args: readonly string[], options: ProcessOptions = {}): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const { env = {}, cwd = root, program = PROGRAM, stdin, keepsStdin = false, onStart, onOutput } = options;
    const child = spawn(process.execPath, [program, ...args], {
      cwd,
      env: { ...process.env, ...ENVIRONMENT, ...env },
      stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    }) as ChildProcessByStdio<Writable | null, Readable, Readable>;
    if (keepsStdin) child.stdin?.write(stdin ?? '');
    else child.stdin?.end(stdin);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
    const kill = (signal: NodeJS.Signals): void => void child.kill(signal);
    onStart?.(kill);
    if (onOutput !== undefined) child.stdout.once('data', (output: string) => onOutput(kill, output));
  });
