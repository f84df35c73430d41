// Programs of the trace databases' tests in processes of their own, with the engines' packages left outside the bundle: a native
// package cannot be bundled. A child must never outlive the worker that started it.
import { type ChildProcess, spawn } from 'node:child_process';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { out, root } from '../../../../test/support/child.js';

/** The TypeScript program `file` as one JavaScript file inside this package. */
export const bundleProgram = async (file: string): Promise<string> => {
  const outfile = join(out, `${basename(file, '.ts')}.mjs`);
  await build({
    entryPoints: [file],
    outfile,
    bundle: true,
    // Unlike the sources, ours among them by the paths of tsconfig.json, packages are found from where the bundle lies.
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    tsconfig: join(root, 'tsconfig.json'),
    logLevel: 'error',
  });
  return outfile;
};

/** How a child ended. */
export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A running child: its lines of output as they come. */
export interface Child {
  readonly process: ChildProcess;
  /** Lines of standard output so far. */
  readonly lines: readonly string[];
  readonly ended: Promise<ChildEnd>;
  /** What it wrote to standard error. */
  stderr(): string;
  /** The next line that satisfies `test`, among those of before too; rejects when the child ends without one. */
  line(test: (line: string) => boolean): Promise<string>;
  /** Close its standard input, by which these programs know that they shall end. */
  finish(): Promise<ChildEnd>;
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Start a bundled program. */
export const startProgram = (
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Child => {
  const child = spawn(process.execPath, [file, ...args], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  running.add(child);
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  let stderr = '';
  let end: ChildEnd | undefined;
  const report = (): void => {
    for (const listener of [...listeners]) listener();
  };
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    report();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // Writing to one that was killed.
  child.stdin.on('error', () => {});
  const ended = new Promise<ChildEnd>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      running.delete(child);
      end = { code, signal };
      report();
      resolve(end);
    });
  });
  return {
    process: child,
    lines,
    ended,
    stderr: () => stderr,
    line: (test) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = lines.find(test);
          if (found === undefined && end === undefined) return;
          listeners.delete(look);
          if (found !== undefined) resolve(found);
          else reject(new Error(`${basename(file)} ended (${JSON.stringify(end)}) without that line\n${stderr}`));
        };
        listeners.add(look);
        look();
      }),
    finish() {
      child.stdin.end();
      return ended;
    },
  };
};
