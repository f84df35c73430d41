// What the overhead command starts, finds and ends: a service, and the sink that takes the traces of a run. Neither must outlive the command, and a
// service must never be taken for ready before it listens.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { BenchError } from '@spanline/tracedb/bench-history';
import { plugNPlayArguments, sleep } from 'spanline/internal/base';
import { builtFileUrl } from '../../run-program.js';
import { listeningPorts, treeCpuMs } from './process-tree.js';

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
      const ports = listeningPorts(this.#child.pid as number) ?? [wanted];
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
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, signal);
    } catch {
      // It is gone.
    }
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
