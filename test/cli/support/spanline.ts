// The built command as people run it: in a process of its own, with pipes. Brings the build up to date once for a test file.
import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';

export const root = fileURLToPath(new URL('../../../', import.meta.url));

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
  /** Leave the standard input open behind that. */
  readonly keepsStdin?: boolean;
  /** Another installation of the package. */
  readonly program?: string;
  /** Called once it runs; gives the process its signals. */
  readonly onStart?: (kill: (signal: NodeJS.Signals) => void) => void;
  /** Called with the first that it prints: what a test waits for in place of a time that a busy machine makes too short. */
  readonly onOutput?: (kill: (signal: NodeJS.Signals) => void, output: string) => void;
}

const PROGRAM = join(root, 'dist/esm/cli/main.js');

/** Have the command built before the tests of a file. */
export const buildFirst = (): void => {
  beforeAll(() => {
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/build.mjs'), '--no-types'], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`the build failed:\n${stderr}`);
  }, 300_000);
};

/** Run `spanline` with these arguments. */
export const spanline = (args: readonly string[], options: RunOptions = {}): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const { env = {}, cwd = root, program = PROGRAM, stdin, keepsStdin = false, onStart, onOutput } = options;
    const child = spawn(process.execPath, [program, ...args], {
      cwd,
      env: { ...process.env, NODE_OPTIONS: '', SPANLINE_PERF_STORE: '', ...env },
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

/** A directory for the tests of a file, gone when they are over. */
export const scratch = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'spanline-cli-'));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  return path;
};
