// Runs a program of a test in a process of its own: the TypeScript sources bundled into one file inside this package,
// because what is under test is the process: its exit, its memory, its environment.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** A folder of this worker inside the package, gone when the run is over (global-setup.ts). */
export const out = join(process.env.SPANLINE_TEST_CHILDREN ?? join(root, '.tmp/test-children'), String(process.pid));
mkdirSync(out, { recursive: true });

const bundles = new Map<string, Promise<string>>();

/** The TypeScript program `file` as one JavaScript file, made once for a worker; `spanline` in it is this package's source. */
export const bundleChild = (file: string): Promise<string> => {
  const bundle = bundles.get(file) ?? bundled(file);
  bundles.set(file, bundle);
  return bundle;
};

const bundled = async (file: string): Promise<string> => {
  // Inside the package of the program, which looks for its addon around itself.
  const [folder = ''] = /^packages\/[\w-]+/.exec(relative(root, file)) ?? [];
  const outfile = join(root, folder, relative(root, out), `${basename(file, '.ts')}.mjs`);
  await build({
    entryPoints: [file],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    tsconfig: join(root, 'tsconfig.json'),
    // The sources count as free of side effects; a child that imports little of them must still get the default collector.
    ignoreAnnotations: true,
    logLevel: 'error',
  });
  return outfile;
};

export interface ChildResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ChildOptions {
  readonly node?: string;
  readonly execArgv?: readonly string[];
  readonly args?: readonly string[];
  /** This package's folder unless it is said. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Send this signal when the child prints `ready`. */
  readonly signalWhenReady?: NodeJS.Signals;
}

/** Run a JavaScript file to its end. */
export const runFile = (file: string, options: ChildOptions = {}): Promise<ChildResult> =>
  new Promise((resolve, reject) => {
    const { node = process.execPath, execArgv = [], args = [], cwd = root, env = {}, signalWhenReady } = options;
    const child = spawn(node, [...execArgv, file, ...args], {
      cwd,
      env: { ...process.env, NODE_OPTIONS: '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    let isSignalled = false;
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      // Once: a second signal ends a process that still handles the first.
      if (signalWhenReady !== undefined && !isSignalled && stdout.includes('ready')) {
        isSignalled = true;
        child.kill(signalWhenReady);
      }
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });

/** Bundle and run `test/integration/children/NAME.ts`. */
export const runChild = async (name: string, options?: ChildOptions): Promise<ChildResult> =>
  runFile(await bundleChild(join(root, 'test/integration/children', `${name}.ts`)), options);

/** The last line of a child's output as JSON; its whole output when that fails. */
export const resultOf = (child: ChildResult): Record<string, unknown> => {
  try {
    return JSON.parse(child.stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
  } catch {
    throw new Error(`no result: code ${child.code}, signal ${child.signal}\n${child.stdout}\n${child.stderr}`);
  }
};
