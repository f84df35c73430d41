// One run of a benchmark's command: its output, its time, and the CPU time of it and all that it started. Nothing of it may be alive once this
// is over, however it ends: a child that is left behind would be measured with the next one.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Readable } from 'node:stream';
import { abortedBy, attempt, onAbort, throwIfAborted, timers } from 'spanline/internal/base';
import { aborted, BenchError } from './figure.js';

/** What a command may print, below what V8 holds as text. Tinybench before version 6 keeps every sample: 50 MB a task and second. */
const MAX_OUTPUT_BYTES = 400 * 2 ** 20;
/** A process that does not end at SIGTERM is killed. */
const PATIENCE_MS = 2000;

/** What shells end with for a program that is not there. */
const NOT_FOUND = 127;

/** In an argument: the path of a file that the command writes in place of its standard output. */
const OUT = '{out}';

/** How a command is run. */
export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal;
  /** Counts instructions of user space by `perf stat` or by valgrind, under which a program takes some fifty times as long. */
  readonly counter?: 'perf' | 'valgrind';
}

/** What a run came to. */
export interface CommandRun {
  /** What it wrote to `{out}`, or to its standard output. */
  readonly output: string;
  readonly wallMs: number;
  /** Of all processes that it waited for; undefined where there is no shell that tells. */
  readonly cpuMs?: number;
  /** With `counter`, of all threads and processes. */
  readonly instructions?: number;
}

const commandFailure = (message: string, cause?: unknown): BenchError =>
  new BenchError('ERR_SPANLINE_BENCH_COMMAND', message, { cause });

/** Whether a program of this name is on PATH. */
const isOnPath = (name: string): boolean =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .some((dir) => attempt(() => accessSync(join(dir, name), constants.X_OK) === undefined));

/** The shell tells of its children what Node does not; bash to the millisecond, others in ticks of 10. */
const shell = (): string | undefined => ['bash', 'sh'].find(isOnPath);

const HAS_TIMES = '"$@" 3>&-; code=$?; times >&3; exit $code';

/** Milliseconds of the second line of `times`, which is that of the children. */
const childrenMs = (text: string): number | undefined => {
  const [, line = ''] = text.trim().split('\n');
  const parts = [...line.matchAll(/(\d+)m([\d.,]+)s/g)].map(([, m, s]) => Number(m) * 60 + Number(s.replace(',', '.')));
  return parts.length === 2 ? (parts[0] + parts[1]) * 1000 : undefined;
};

const COUNTERS = {
  perf: {
    args: (file: string) => ['perf', 'stat', '-x,', '-e', 'instructions:u', '-o', file, '--'],
    count: (text: string) => Number(/^(\d+),[^,]*,instructions/m.exec(text)?.[1]),
  },
  valgrind: {
    args: (file: string) => [
      'valgrind',
      '--tool=cachegrind',
      '--cache-sim=no',
      '--trace-children=yes',
      '--cachegrind-out-file=/dev/null',
      `--log-file=${file}.%p`,
    ],
    count: (text: string) =>
      [...text.matchAll(/I\s+refs:\s+([\d,]+)/g)].reduce((sum, [, n]) => sum + Number(n.replaceAll(',', '')), 0),
  },
} as const;

/** Collects what a stream gives, up to the bound. */
const collected = (stream: Readable, onFull: () => void): (() => string) => {
  const parts: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (data: Buffer) => {
    bytes += data.length;
    if (bytes <= MAX_OUTPUT_BYTES) parts.push(data);
    else onFull();
  });
  return () => Buffer.concat(parts).toString('utf8');
};

/** Sends a signal to the process and all of its group. */
const kill = (pid: number | undefined, signal: NodeJS.Signals): void => {
  if (pid === undefined) return;
  // It throws where it is gone.
  attempt(() => process.kill(process.platform === 'win32' ? pid : -pid, signal));
};

interface Ended {
  readonly stdout: string;
  readonly times: string;
  readonly wallMs: number;
}

const runToEnd = async (argv: readonly string[], shown: string, options: RunOptions): Promise<Ended> => {
  const { cwd, env = process.env, signal } = options;
  throwIfAborted(signal, shown, aborted);
  const sh = process.platform === 'win32' ? undefined : shell();
  const [file, ...args] = sh === undefined ? argv : [sh, '-c', HAS_TIMES, sh, ...argv];
  const start = timers.monotonicMs();
  const child = spawn(file, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
    // A group of its own: all that it starts can be ended.
    detached: sh !== undefined,
  }) as ChildProcessByStdio<null, Readable, null>;
  let killer: NodeJS.Timeout | undefined;
  let isFull = false;
  const end = (): void => {
    kill(child.pid, 'SIGTERM');
    killer ??= timers.setTimeout(kill, PATIENCE_MS, child.pid, 'SIGKILL');
  };
  const stdout = collected(child.stdout, () => {
    isFull = true;
    end();
  });
  const times = collected(child.stdio[3] as Readable, end);
  const unlink = onAbort(signal, end);
  // What it has left running holds its output open, and would take time from the next.
  child.once('exit', () => kill(child.pid, 'SIGKILL'));
  try {
    const [code, killedBy] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    const wallMs = timers.monotonicMs() - start;
    if (signal?.aborted) throw abortedBy(signal, shown, aborted);
    if (isFull)
      throw commandFailure(`${shown} printed more than ${MAX_OUTPUT_BYTES} bytes; let it print fewer samples`);
    if (code === NOT_FOUND)
      throw commandFailure(`${shown} cannot be started: no such program, or one that may not run`);
    if (code !== 0) {
      throw commandFailure(`${shown} ended with ${killedBy ?? code}${cwd === undefined ? '' : ` in ${cwd}`}`);
    }
    return { stdout: stdout(), times: times(), wallMs };
  } catch (error) {
    throw error instanceof BenchError
      ? error
      : commandFailure(`${shown} cannot be started: ${(error as Error).message}`, error);
  } finally {
    unlink();
    timers.clearTimeout(killer);
  }
};

/** The files whose names begin so, as one text: valgrind writes one a process. */
const readAll = (directory: string, beginning: string, names: readonly string[]): string =>
  names
    .filter((name) => name.startsWith(beginning))
    .map((name) => readFileSync(join(directory, name), 'utf8'))
    .join('\n');

/** Runs the command once. Throws `ERR_SPANLINE_BENCH_COMMAND` when it fails or cannot be started. */
export const runCommand = async (command: readonly string[], options: RunOptions = {}): Promise<CommandRun> => {
  const scratch = mkdtempSync(join(tmpdir(), 'spanline-bench-'));
  try {
    const out = join(scratch, 'out');
    const hasOut = command.some((word) => word.includes(OUT));
    const counter = options.counter === undefined ? undefined : COUNTERS[options.counter];
    const count = join(scratch, 'count');
    const words = command.map((word) => word.replaceAll(OUT, out));
    const { stdout, times, wallMs } = await runToEnd(
      [...(counter?.args(count) ?? []), ...words],
      command.join(' '),
      options,
    );
    const names = readdirSync(scratch);
    if (hasOut && !names.includes('out')) throw commandFailure(`${command.join(' ')} wrote nothing to ${OUT}`);
    const instructions = counter?.count(readAll(scratch, 'count', names));
    const cpuMs = childrenMs(times);
    return {
      output: hasOut ? readFileSync(out, 'utf8') : stdout,
      wallMs,
      ...(cpuMs !== undefined && { cpuMs }),
      ...(instructions !== undefined && instructions > 0 && { instructions }),
    };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
};

/** Runs a line of shell, such as a build; what it prints goes to standard error. */
export const runShell = async (line: string, { cwd, signal }: RunOptions): Promise<void> => {
  const argv =
    process.platform === 'win32' ? ['cmd', '/d', '/s', '/c', `${line} 1>&2`] : ['sh', '-c', `{ ${line}\n} >&2`];
  await runToEnd(argv, line, { cwd, signal });
};
