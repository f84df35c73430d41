// Two commits side by side, each checked out into a directory of its own, ready to be measured. The paths of both are as long as each other: where
// a program lies moves what it has in memory. Nothing of this may be left behind, nor the checkout that it came from be touched.
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { makeDirectory, timers } from 'spanline/internal/base';
import { BenchError, badOption } from '../bench-error.js';
import { runShell } from '../run-command.js';
import { type GitCommit, git, gitCommit } from './git.js';
import { requireUnchanged, sharePackages } from './packages.js';

/** What is made of two commits. */
export interface WorkTreeOptions {
  /** A directory of the repository; a command runs in the same place of a work tree. */
  readonly directory: string;
  readonly base: string;
  readonly head: string;
  /** Paths from the root of the repository that both take from head, such as the benchmark: then it is the same for both. */
  readonly same?: readonly string[];
  /** Line of shell that installs packages. Default: those of the checkout where the lock file is the same, else `npm ci`. */
  readonly install?: string;
  /** Line of shell that builds. */
  readonly build?: string;
  readonly signal?: AbortSignal;
  readonly onStep?: (what: string) => void;
}

/** Both commits, ready to be measured. */
export interface WorkTrees {
  readonly base: GitCommit & { readonly directory: string };
  readonly head: GitCommit & { readonly directory: string };
  /** Give everything back. */
  remove(): Promise<void>;
}

const NPM_CI = 'npm ci --no-audit --no-fund --loglevel=error';
const NPM_LOCK = 'package-lock.json';
const LOCK_FILES: ReadonlySet<string> = new Set([
  NPM_LOCK,
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'yarn.lock',
  'bun.lock',
  'bun.lockb',
]);

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Shares packages of the checkout whose lock files are the same. Gives those files, and whether the packages of the root are among them. */
const shareInstalled = async (
  top: string,
  tree: string,
  files: readonly string[],
  signal?: AbortSignal,
): Promise<{ readonly shared: readonly string[]; readonly isRootServed: boolean }> => {
  const shared: (readonly string[])[] = [];
  let isRootServed = false;
  for (const file of files.filter((path) => LOCK_FILES.has(baseName(path)))) {
    const folder = dirname(file);
    const installed = join(top, folder, 'node_modules');
    const place = join(tree, folder, 'node_modules');
    const isSame = existsSync(join(top, file)) && readFileSync(join(top, file)).equals(readFileSync(join(tree, file)));
    if (!isSame || !existsSync(installed) || existsSync(place)) continue;
    shared.push(await sharePackages(realpathSync(installed), place, signal));
    isRootServed ||= folder === '.';
  }
  return { shared: shared.flat(), isRootServed };
};

/** Gives a work tree its packages; the files that it shares with the checkout. */
const providePackages = async (
  top: string,
  tree: string,
  { install, signal, onStep }: WorkTreeOptions,
): Promise<readonly string[]> => {
  const run = (line: string): Promise<void> => {
    onStep?.(`install packages in ${tree}`);
    return runShell(line, { cwd: tree, signal });
  };
  if (install !== undefined) {
    await run(install);
    return [];
  }
  const files = (await git(tree, ['ls-files', '-z'], signal)).split('\0');
  const { shared, isRootServed } = await shareInstalled(top, tree, files, signal);
  const lock = files.find((path) => LOCK_FILES.has(path));
  if (isRootServed || lock === undefined) return shared;
  if (lock !== NPM_LOCK) {
    throw badOption(`${lock} differs from that of the checkout; give the command that installs its packages (install)`);
  }
  await run(NPM_CI);
  return shared;
};

/** Removes the work trees below a directory, in which there may be nothing any more; those that others have made stay, whatever is wrong with them. */
const removeTrees = async (top: string, scratch: string): Promise<void> => {
  rmSync(scratch, { recursive: true, force: true });
  // Not by the signal: this is what an abort must not skip.
  const list = await git(top, ['worktree', 'list', '--porcelain']);
  for (const line of list.split('\n')) {
    const [, path = ''] = /^worktree (.*)/.exec(line) ?? [];
    // Twice: one that was interrupted while it was made is locked.
    if (dirname(path) === scratch) await git(top, ['worktree', 'remove', '--force', '--force', path]);
  }
};

const takeFromHead = async (tree: string, head: GitCommit, path: string, signal?: AbortSignal): Promise<void> => {
  const inside = relative(tree, join(tree, path));
  if (inside === '' || inside.startsWith('..')) throw badOption(`${path} is not a path inside the repository`);
  if ((await git(tree, ['ls-tree', head.hash, '--', inside], signal)) === '') {
    throw new BenchError('ERR_SPANLINE_BENCH_GIT', `head (${head.hash.slice(0, 10)}) has no ${path} to take for both`);
  }
  rmSync(join(tree, inside), { recursive: true, force: true });
  await git(tree, ['checkout', head.hash, '--', inside], signal);
};

/** Checks both commits out, provides their packages and builds them. What fails or is aborted leaves nothing behind. */
export const makeWorkTrees = async (options: WorkTreeOptions): Promise<WorkTrees> => {
  const { directory, same = [], build, signal, onStep } = options;
  const top = realpathSync((await git(directory, ['rev-parse', '--show-toplevel'], signal)).trim());
  const within = relative(top, realpathSync(directory));
  const base = await gitCommit(directory, options.base, signal);
  const head = await gitCommit(directory, options.head, signal);
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'spanline-gate-')));
  const remove = (): Promise<void> => removeTrees(top, scratch);
  const made = async (name: 'base' | 'head', commit: GitCommit): Promise<string> => {
    const tree = join(scratch, name);
    onStep?.(`check out ${commit.hash.slice(0, 10)} as ${name}`);
    await git(top, ['worktree', 'add', '--quiet', '--detach', tree, commit.hash], signal);
    if (name === 'base') for (const path of same) await takeFromHead(tree, head, path, signal);
    const shared = await providePackages(top, tree, options);
    if (build !== undefined) {
      onStep?.(`build ${name}`);
      const start = timers.wallMs();
      await runShell(build, { cwd: tree, signal });
      requireUnchanged(shared, start);
    }
    const place = join(tree, within);
    makeDirectory(place);
    return place;
  };
  try {
    return {
      base: { ...base, directory: await made('base', base) },
      head: { ...head, directory: await made('head', head) },
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
};
