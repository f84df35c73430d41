// What is asked of git, by its own command. Nothing here may change the repository's branches, its index or its files.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { abortedBy } from 'spanline/internal/base';
import { BenchError } from '../bench-error.js';

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
export const git = async (directory: string, args: readonly string[], signal?: AbortSignal): Promise<string> => {
  try {
    return (await run('git', ['-C', directory, ...args], { maxBuffer: MAX_OUTPUT_BYTES, signal, env: environment() }))
      .stdout;
  } catch (error) {
    if (signal?.aborted) {
      throw abortedBy(
        signal,
        `git ${args[0]}`,
        (text, options) => new BenchError('ERR_SPANLINE_BENCH_ABORTED', text, options),
      );
    }
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
