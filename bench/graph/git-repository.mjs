// A bare repository with a history of the shape that is measured. Its ids are git's own, since they follow from what is in a commit;
// trees are empty.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { buildOnce, filePath } from './files.mjs';
import { nodesOf } from './nodes.mjs';

const FIRST_SECOND = 1_100_000_000;
const SECONDS_A_COMMIT = 60;
const MAX_OUTPUT_BYTES = 1 << 30;

export const hasGit = () => spawnSync('git', ['--version'], { stdio: 'ignore' }).status === 0;

export const repositoryPath = () => filePath('git', 'hash', 'git');
export const commitGraphPath = (repository = repositoryPath()) => join(repository, 'objects/info/commit-graph');

/** Settings of the machine must not change what is measured. */
export const gitEnvironment = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };

export const git = (args) =>
  execFileSync('git', args, { env: gitEnvironment, stdio: ['ignore', 'pipe', 2], maxBuffer: MAX_OUTPUT_BYTES });

/** The history as `git fast-import` takes it; marks are numbers of nodes and one. */
function* importStream({ parents, heads }) {
  for (const [number, list] of parents.entries()) {
    if (list.length === 0) yield 'reset refs/heads/building\n';
    // No two commits may be the same, or they would be one.
    const message = String(number);
    const second = FIRST_SECOND + number * SECONDS_A_COMMIT;
    yield `commit refs/heads/building\nmark :${number + 1}\ncommitter A <a@example.com> ${second} +0000\ndata ${message.length}\n${message}\n`;
    for (const [i, parent] of list.entries()) yield `${i === 0 ? 'from' : 'merge'} :${parent + 1}\n`;
    yield '\n';
  }
  for (const head of heads) yield `reset refs/heads/head-${head}\nfrom :${head + 1}\n\n`;
  yield `reset refs/heads/building\nfrom :${heads[0] + 1}\n\n`;
}

const importInto = async (repository) => {
  const child = spawn('git', ['-C', repository, 'fast-import', '--quiet', '--force'], {
    env: gitEnvironment,
    stdio: ['pipe', 2, 2],
  });
  const over = once(child, 'close');
  let part = '';
  for (const line of importStream(nodesOf('hash'))) {
    part += line;
    if (part.length < 1 << 16) continue;
    if (!child.stdin.write(part)) await once(child.stdin, 'drain');
    part = '';
  }
  child.stdin.end(part);
  const [code] = await over;
  if (code !== 0) throw new Error(`git fast-import failed (${code})`);
};

/** Write the commit-graph of a repository. */
export const writeCommitGraph = (repository = repositoryPath()) =>
  git(['-C', repository, 'commit-graph', 'write', '--reachable', '--no-progress']);

export const buildRepository = () =>
  buildOnce(repositoryPath(), async (path) => {
    git(['init', '--quiet', '--bare', path]);
    await importInto(path);
    writeCommitGraph(path);
  });
