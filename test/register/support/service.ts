// A program that knows nothing of tracing, in a process of its own, with something loaded into it before its first line.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { root } from '../../support/child.js';

export interface Service {
  readonly pid: number;
  /** What it has said so far, on both. */
  readonly said: () => string;
  /** Resolves when it has ended. */
  stop(signal?: NodeJS.Signals): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

export interface ServiceOptions {
  readonly execArgv?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What it prints once it serves. */
  readonly ready?: RegExp;
  readonly cwd?: string;
}

/** Variables of the test run itself must not matter. */
const QUIET = { NODE_OPTIONS: '', OTEL_TRACES_EXPORTER: '', OTEL_LOG_LEVEL: '', SPANLINE_ARCHIVE: '', CI: '' };

/** Resolves when it serves, rejects with what it said when it ends before. */
export const startService = async (file: string, options: ServiceOptions = {}): Promise<Service> => {
  const { execArgv = [], args = [], env = {}, ready = /^ready$/m, cwd = root } = options;
  const child = spawn(process.execPath, [...execArgv, file, ...args], {
    cwd,
    env: { ...process.env, ...QUIET, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  await new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      said += chunk.toString();
      if (ready.test(said)) resolve();
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    exit.then(([code, signal]) => reject(new Error(`${file} ended with ${code ?? signal}: ${said}`)), reject);
  });
  return {
    pid: child.pid as number,
    said: () => said,
    async stop(name = 'SIGTERM') {
      child.kill(name);
      const [code, signal] = await exit;
      return { code, signal };
    },
  };
};
