// The commits of a repository, as git lists them: nothing of the repository is read by other means, and nothing of it is changed.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { CommandError, ExitCode } from '../exit-code.js';
import { type InputNode, inputNodes } from './input-lines.js';

/** Of what git says when it fails. */
const MAX_MESSAGE_CHARACTERS = 2000;

const failed = (directory: string, why: string, cause?: unknown): CommandError =>
  new CommandError('ERR_SPANLINE_GIT', `the commits of ${directory} cannot be listed: ${why}`, ExitCode.store, {
    cause,
  });

/** Every commit that a branch or tag of the repository at `directory` reaches, with its parents. */
export const commitsOf = async function* (directory: string, signal: AbortSignal): AsyncGenerator<InputNode> {
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
    yield* inputNodes(git.stdout, 'what git lists');
    const [code, killedBy] = await closed;
    if (code !== 0) throw failed(directory, message.trim() || `git ended with ${killedBy ?? code}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw failed(directory, 'there is no git command', error);
    throw error;
  } finally {
    git.kill();
  }
};
