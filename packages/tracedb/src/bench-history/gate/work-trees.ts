// Two commits side by side, each checked out by git's own command into a directory of its own, with the packages of the checkout: hard links, which
// take a second where a copy takes many. The paths of both are as long as each other: where a program lies moves what it has in memory. Nothing of
// this may be left behind, nor the checkout, its branches or its index be changed; a build that deletes or replaces packages must never reach the
// checkout through the tree, and one that writes into them must not go unnoticed.
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  type Dirent,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { abortedBy, makeDirectory, throwIfAborted, timers } from 'spanline/internal/base';
import { aborted, BenchError, badOption } from '../figure.js';
import { runShell } from '../run-command.js';

const run = promisify(execFile);

/** Of a list of files, which is the longest answer. */
const MAX_OUTPUT_BYTES = 64 * 2 ** 20;

const gitFailure = (message: string, cause?: unknown): BenchError =>
  new BenchError('ERR_SPANLINE_BENCH_GIT', message, { cause });

/** A hook of git runs with variables that name its own repository, whichever directory is asked about. */
const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^GIT_(DIR|WORK_TREE|INDEX_FILE|PREFIX)$/.test(name)),
  );

/** What `git -C directory ...args` prints. Throws `ERR_SPANLINE_BENCH_GIT` with what git says. */
const git = async (directory: string, args: readonly string[], signal?: AbortSignal): Promise<string> => {
  try {
    return (await run('git', ['-C', directory, ...args], { maxBuffer: MAX_OUTPUT_BYTES, signal, env: environment() }))
      .stdout;
  } catch (error) {
    if (signal?.aborted) throw abortedBy(signal, `git ${args[0]}`, aborted);
    const { code, stderr, message } = error as NodeJS.ErrnoException & { readonly stderr?: string };
    if (code === 'ENOENT') throw gitFailure('there is no git command on PATH; install git', error);
    throw gitFailure(`git ${args.join(' ')} failed in ${directory}: ${(stderr || message).trim()}`, error);
  }
};

/** A commit of a repository. */
export interface GitCommit {
  readonly hash: string;
  /** When it was made, Unix milliseconds. */
  readonly timeMs: number;
  /** First line of its message. */
  readonly subject: string;
}

/** The commit that a name such as `origin/main` means. */
export const gitCommit = async (directory: string, name: string, signal?: AbortSignal): Promise<GitCommit> => {
  const text = await git(directory, ['log', '-1', '--format=%H %ct %s', '--end-of-options', name, '--'], signal);
  const [, hash, seconds, subject = ''] = /^(\S+) (\d+) (.*)/.exec(text) ?? [];
  if (hash === undefined) throw gitFailure(`there is no commit ${name} in ${directory}; fetch it, or name another`);
  return { hash, timeMs: Number(seconds) * 1000, subject };
};

/** Whether tracked files differ from the commit that is checked out. */
export const hasChanges = async (directory: string, signal?: AbortSignal): Promise<boolean> =>
  (await git(directory, ['status', '--porcelain', '--untracked-files=no'], signal)) !== '';

/** What tools find again or make anew. */
const CACHES: ReadonlySet<string> = new Set(['.cache', '.vite', '.vite-temp', '.vitest']);
/** Where pnpm has the packages themselves. */
const PNPM_STORE = '.pnpm';

/** False where the file cannot be shared, and has been copied: another disk, or a file system without hard links. */
const linkOrCopy = (from: string, to: string): boolean => {
  try {
    linkSync(from, to);
    return true;
  } catch {
    copyFileSync(from, to);
    return false;
  }
};

/**
 * Gives `to`, which is not there, what the `node_modules` at `from` has. What tools have generated beside the packages is copied, for they
 * write it in place; caches are left out; links stay as they are, so that those of a workspace lead into the work tree. Gives the files that
 * both share, by their paths in the checkout.
 */
export const sharePackages = async (from: string, to: string, signal?: AbortSignal): Promise<readonly string[]> => {
  const shared: string[] = [];
  const isGenerated = (name: string, isTop: boolean): boolean => isTop && name.startsWith('.') && name !== PNPM_STORE;
  const share = async (source: string, target: string, entry: Dirent, isTop: boolean): Promise<void> => {
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else if (isGenerated(entry.name, isTop)) cpSync(source, target, { recursive: true, verbatimSymlinks: true });
    else if (entry.isDirectory()) await shareDirectory(source, target);
    else if (entry.isFile() && linkOrCopy(source, target)) shared.push(source);
  };
  const shareDirectory = async (source: string, target: string, isTop = false): Promise<void> => {
    throwIfAborted(signal, 'sharing packages', aborted);
    mkdirSync(target);
    for (const entry of await readdir(source, { withFileTypes: true })) {
      if (isTop && CACHES.has(entry.name)) continue;
      await share(join(source, entry.name), join(target, entry.name), entry, isTop);
    }
  };
  await shareDirectory(from, to, true);
  return shared;
};

/** Throws `ERR_SPANLINE_BENCH_COMMAND` when one of the files that are shared was written through a link since then, Unix milliseconds. */
export const requireUnchanged = (shared: readonly string[], sinceMs: number): void => {
  const changed = shared.filter((path) => (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= sinceMs);
  if (changed.length === 0) return;
  throw new BenchError(
    'ERR_SPANLINE_BENCH_COMMAND',
    `the build has written into ${changed.length} files of packages that work trees share with the checkout, such as ${changed[0]}; ` +
      "install the packages of the checkout anew, and give work trees packages of their own: --install 'npm ci'",
  );
};

/** What is made of two commits. */
interface WorkTreeOptions {
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
