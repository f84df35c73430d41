// The commits of a repository, as git lists them: nothing of the repository is read by other means, and nothing of it is changed.
import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { CommandError, ExitCode } from '../exit-code.js';
import { type InputNode, inputNodes } from './input-lines.js';

const run = promisify(execFile);

/** One commit, or a line. */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** Of what git says when it fails. */
const MAX_MESSAGE_CHARACTERS = 2000;

const failed = (directory: string, why: string, cause?: unknown): CommandError =>
  new CommandError('ERR_SPANLINE_GIT', `the commits of ${directory} cannot be listed: ${why}`, ExitCode.store, {
    cause,
  });

/** What git prints; throws when it fails. */
const gitOutput = async (directory: string, args: readonly string[]): Promise<string> =>
  (await run('git', ['-C', directory, ...args], { maxBuffer: MAX_OUTPUT_BYTES })).stdout;

/**
 * The parents of the commits at which a shallow clone was cut off, as the commits name them: git lists such a commit as one without
 * parents, which it is not.
 */
const cutParents = async (directory: string): Promise<ReadonlyMap<string, readonly string[]>> => {
  const parents = new Map<string, readonly string[]>();
  try {
    if ((await gitOutput(directory, ['rev-parse', '--is-shallow-repository'])).trim() !== 'true') return parents;
    const path = (await gitOutput(directory, ['rev-parse', '--git-path', 'shallow'])).trim();
    const commits = readFileSync(resolve(directory, path), 'latin1').split('\n').filter(Boolean);
    for (const commit of commits) {
      const [head] = (await gitOutput(directory, ['cat-file', 'commit', commit])).split('\n\n');
      parents.set(
        commit,
        [...head.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, parent]) => parent),
      );
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw failed(directory, 'there is no git command', error);
    throw failed(directory, (error as Error).message, error);
  }
  return parents;
};

/** Every commit that a branch or tag of the repository at `directory` reaches, with its parents; those beyond a shallow clone are absent nodes. */
export const commitsOf = async function* (directory: string, signal: AbortSignal): AsyncGenerator<InputNode> {
  const cut = await cutParents(directory);
  const git: ChildProcessByStdio<null, Readable, Readable> = spawn(
    'git',
    ['-C', directory, 'rev-list', '--parents', '--all'],
    { stdio: ['ignore', 'pipe', 'pipe'], signal },
  );
  let message = '';
  git.stderr.setEncoding('utf8').on('data', (text: string) => {
    message = (message + text).slice(0, MAX_MESSAGE_CHARACTERS);
  });
  // Awaited below; it must not be an unhandled rejection meanwhile.
  const closed = once(git, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  closed.catch(() => {});
  try {
    for await (const node of inputNodes(git.stdout, 'what git lists')) {
      const parents = cut.get(node.words[0]);
      yield parents === undefined ? node : { ...node, words: [node.words[0], ...parents] };
    }
    const [code, killedBy] = await closed;
    if (code !== 0) throw failed(directory, message.trim() || `git ended with ${killedBy ?? code}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw failed(directory, 'there is no git command', error);
    throw error;
  } finally {
    git.kill();
  }
};
