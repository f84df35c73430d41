// What the overhead command starts, finds and ends: a service, with the CPU time of its processes and the ports that they listen on, and the sink
// that takes the traces of a run. Neither must outlive the command, and a service must never be taken for ready before it listens. Linux alone tells
// of other processes; elsewhere the answer is undefined, never a guess.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { BenchError } from '@spanline/tracedb/bench-history';
import { listeningPorts } from '@spanline/ui/internal/inspector';
import { attempt, getOrMake, plugNPlayArguments, sleep } from 'spanline/internal/base';
import { builtFileUrl } from '../../run-program.js';

const MS_PER_TICK = 10;

/** Nothing where it has ended meanwhile. */
const read = (path: string): string => attempt(() => readFileSync(path, 'latin1')) ?? '';

/** Fields of a process's `stat` behind its name, which may hold anything. */
const statOf = (pid: number): readonly string[] =>
  read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ');

/** The process and its descendants. */
const treeOf = (root: number): readonly number[] => {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(statOf(Number(name))[1]);
    getOrMake(children, parent, () => []).push(Number(name));
  }
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
};

/** CPU time of all threads of the process and its descendants, those included that it has waited for, in ms; undefined where the system does not tell. */
const treeCpuMs = (root: number): number | undefined => {
  if (process.platform !== 'linux') return undefined;
  // User and system time, and those of children that were waited for.
  const ticks = treeOf(root).map((pid) =>
    statOf(pid)
      .slice(11, 15)
      .reduce((sum, one) => sum + Number(one), 0),
  );
  return ticks.reduce((sum, one) => sum + one, 0) * MS_PER_TICK;
};

/** Ports on which the process or a descendant listens; undefined where the system does not tell. */
const portsOf = (root: number): readonly number[] | undefined =>
  process.platform === 'linux' ? treeOf(root).flatMap((pid) => attempt(() => listeningPorts(pid)) ?? []) : undefined;

const START_MS = 60_000;
const LOOK_EVERY_MS = 50;
const PATIENCE_MS = 3000;

const failed = (message: string, cause?: unknown): BenchError =>
  new BenchError('ERR_SPANLINE_BENCH_COMMAND', message, { cause });

/** A port that nobody listens on. */
const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
};

const accepts = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect(port, 'localhost');
    const end = (answer: boolean): void => {
      socket.destroy();
      done(answer);
    };
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });

/** A service that runs. */
export class Service {
  readonly #child: ChildProcess;
  readonly #shown: string;
  #error: Error | undefined;
  port = 0;

  private constructor(command: readonly string[], env: NodeJS.ProcessEnv) {
    const [file, ...args] = command;
    this.#shown = command.join(' ');
    // A group of its own, so that all of it can be ended; what it prints is not part of the answer.
    this.#child = spawn(file, args, { env, stdio: ['ignore', 2, 2], detached: process.platform !== 'win32' });
    this.#child.once('error', (error) => {
      this.#error = error;
    });
  }

  /** Starts the command with a free port in PORT, and waits until it listens on that one or on another. */
  static async start(command: readonly string[], env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<Service> {
    const wanted = await freePort();
    const service = new Service(command, { ...env, PORT: String(wanted) });
    try {
      service.port = await service.#listening(wanted, signal);
      return service;
    } catch (error) {
      await service.stop();
      throw error;
    }
  }

  async #listening(wanted: number, signal: AbortSignal): Promise<number> {
    for (const end = performance.now() + START_MS; performance.now() < end; await sleep(LOOK_EVERY_MS)) {
      signal.throwIfAborted();
      this.#checkAlive('before it listened; two of it run side by side, so let it listen on the port in PORT');
      const ports = portsOf(this.#child.pid as number) ?? [wanted];
      const port = ports.includes(wanted) ? wanted : ports[0];
      if (port !== undefined && (await accepts(port))) return port;
    }
    throw failed(`${this.#shown} listens on no port after ${START_MS / 1000} s; let it listen on the port in PORT`);
  }

  #checkAlive(when: string): void {
    if (this.#error !== undefined)
      throw failed(`${this.#shown} cannot be started: ${this.#error.message}`, this.#error);
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null)
      throw failed(`${this.#shown} ended with ${signalCode ?? exitCode} ${when}`);
  }

  /** CPU time of all its processes, ms; undefined where the system does not tell. */
  cpuMs(): number | undefined {
    this.#checkAlive('under load');
    return treeCpuMs(this.#child.pid as number);
  }

  #kill(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    // It throws where it is gone.
    attempt(() => process.kill(process.platform === 'win32' ? pid : -pid, signal));
  }

  /** Ends it and all that it has started. */
  async stop(): Promise<void> {
    const isOver = this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined;
    const ended = isOver ? undefined : once(this.#child, 'exit');
    this.#kill('SIGTERM');
    const killer = setTimeout(() => this.#kill('SIGKILL'), PATIENCE_MS);
    await ended;
    clearTimeout(killer);
    this.#kill('SIGKILL');
  }
}

/** A sink that runs. */
export interface Sink {
  readonly endpoint: string;
  /** Bytes that have come so far. */
  bytes(): Promise<number>;
  stop(): void;
}

/** Starts one. */
export const startSink = async (): Promise<Sink> => {
  // It must not be traced, whatever the environment says.
  const env = { ...process.env, NODE_OPTIONS: '' };
  const program = fileURLToPath(builtFileUrl('bench/otlp-sink.js'));
  const child = fork(program, {
    env,
    stdio: ['ignore', 2, 2, 'ipc'],
    execArgv: plugNPlayArguments(program),
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    endpoint: `http://127.0.0.1:${port}`,
    async bytes() {
      child.send('how many');
      const [{ bytes }] = (await once(child, 'message')) as [{ bytes: number }];
      return bytes;
    },
    stop: () => void child.disconnect(),
  };
};
