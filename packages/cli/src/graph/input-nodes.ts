// Nodes to build a graph of: lines `key parent parent…` out of a stream of bytes, compressed by gzip or not, one line and one chunk at a time; and
// the commits of a repository, as git lists them: nothing of it is read by other means, and nothing of it is changed.

import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { type CommandError, failed, wrongUsage } from '../exit-code.js';
import { bytesOf } from '../files.js';

/** Bytes of a line at most: no node has that many parents. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

const LINE_BREAK = 0x0a;
const COMMENT = 0x23;
/** What some editors and shells put before UTF-8. */
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** A node of the input. */
export interface InputNode {
  /** Where it stands, from 1. */
  readonly line: number;
  /** Its key, then the keys it refers to: a character for each byte (`latin1`), for keys need not be UTF-8. */
  readonly words: readonly string[];
}

/** The words of lines; blank lines and comments (`#`) have none and are left out. */
const inputNodes = async function* (chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<InputNode> {
  let rest: Buffer = Buffer.alloc(0);
  let line = 0;
  const nodeOf = (raw: Buffer): InputNode | undefined => {
    const isMarked = line++ === 0 && raw.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
    const bytes = isMarked ? raw.subarray(BYTE_ORDER_MARK.length) : raw;
    if (bytes[0] === COMMENT) return undefined;
    const words = bytes.toString('latin1').split(/[ \t\r]+/);
    const kept = words.filter((word) => word !== '');
    return kept.length === 0 ? undefined : { line, words: kept };
  };
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(LINE_BREAK); end >= 0; end = bytes.indexOf(LINE_BREAK, start)) {
      const node = nodeOf(bytes.subarray(start, end));
      if (node !== undefined) yield node;
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length > MAX_LINE_BYTES)
      throw wrongUsage(`line ${line + 1} of ${name} has more than ${MAX_LINE_BYTES} bytes: write a node a line`);
  }
  const last = nodeOf(rest);
  if (last !== undefined) yield last;
};

/** The nodes of a file, or of standard input for `-`. */
export const nodesOfFile = async function* (path: string, signal: AbortSignal): AsyncGenerator<InputNode> {
  const name = path === '-' ? 'standard input' : path;
  try {
    yield* inputNodes(bytesOf(path, signal), name);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (!code.startsWith('Z_')) throw error;
    throw failed('ERR_SPANLINE_FILE', `${name} is damaged gzip: ${message}`, error);
  }
};

const run = promisify(execFile);

/** One commit, or a line. */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** Of what git says when it fails. */
const MAX_MESSAGE_CHARACTERS = 2000;

const unlisted = (directory: string, why: string, cause?: unknown): CommandError =>
  failed('ERR_SPANLINE_GIT', `the commits of ${directory} cannot be listed: ${why}`, cause);

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
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw unlisted(directory, 'there is no git command', error);
    throw unlisted(directory, (error as Error).message, error);
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
    if (code !== 0) throw unlisted(directory, message.trim() || `git ended with ${killedBy ?? code}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw unlisted(directory, 'there is no git command', error);
    throw error;
  } finally {
    git.kill();
  }
};
