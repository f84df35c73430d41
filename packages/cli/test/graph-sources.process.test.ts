// `spanline graph` takes the commits that git tells it of, and reads a graph over HTTP.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { CompactGraph } from '../../graph/src/index.js';
import { type Outcome, type RunOptions, scratch, spanline } from './support/spanline.js';

const dir = scratch();
const path = (name: string): string => join(dir, name);
const graph = (args: readonly string[], options?: RunOptions): Promise<Outcome> =>
  spanline(['graph', ...args], options);
const lines = ({ stdout }: Outcome): string[] => stdout.split('\n').slice(0, -1);

test('over HTTP', async () => {
  await graph(['build', '-', '-o', path('history.graph')], {
    stdin: Buffer.from('first\nsecond first\nthird second\n'),
  });
  const bytes = readFileSync(path('history.graph'));
  const server = createServer((request, response) => {
    const [, start, end] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
    const from = start === '' ? Math.max(0, bytes.length - Number(end)) : Number(start);
    const to = start === '' || end === '' ? bytes.length - 1 : Math.min(bytes.length - 1, Number(end));
    const range = { 'content-range': `bytes ${from}-${to}/${bytes.length}`, etag: '"1"' };
    response.writeHead(206, range).end(bytes.subarray(from, to + 1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const found = await graph(['get', `http://127.0.0.1:${port}/history.graph`, 'second']);
    expect(found).toMatchObject({ code: 0, stdout: 'second  node 1\n  references first\n', stderr: '' });
  } finally {
    server.close();
  }
});

const git = (...args: string[]): string => {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false'];
  const { status, stdout, stderr } = spawnSync('git', ['-C', path('repository'), ...identity, ...args], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
};

describe.skipIf(spawnSync('git', ['--version']).status !== 0)('build --from-git', () => {
  beforeAll(() => {
    mkdirSync(path('repository'));
    git('init', '--quiet', '--initial-branch=main');
    for (let i = 0; i < 4; i++) git('commit', '--quiet', '--allow-empty', '-m', `on main ${i}`);
    git('checkout', '--quiet', '-b', 'side', 'HEAD~2');
    git('commit', '--quiet', '--allow-empty', '-m', 'on the side');
    git('checkout', '--quiet', 'main');
    git('merge', '--quiet', '--no-ff', '-m', 'merged', 'side');
    git('checkout', '--quiet', '-b', 'other', 'HEAD~3');
    git('commit', '--quiet', '--allow-empty', '-m', 'on another branch');
  });

  test('has the commits of all branches, and the ancestors that git has', async () => {
    const file = path('commits.graph');
    expect(await graph(['build', '--from-git', path('repository'), '-o', file])).toMatchObject({ code: 0, stderr: '' });
    const opened = await CompactGraph.open(file);
    expect(opened.graphs[0]).toMatchObject({ nodeCount: 7, ghostCount: 0, edgeCount: 7 });
    expect(opened.dictionary.keyBytes).toBe(7 * 20);
    await opened.close();
    const main = git('rev-parse', 'main');
    const reached = lines(await graph(['ancestors', file, main]));
    expect(reached[0]).toBe(main);
    expect(reached.toSorted()).toEqual(git('rev-list', 'main').split('\n').toSorted());
    const abbreviated = await graph(['get', file, main.slice(0, 9)]);
    expect(lines(abbreviated)).toEqual(
      [`${main}  node 0`, `  references ${git('rev-parse', 'main^1')} ${git('rev-parse', 'main^2')}`].map((line) =>
        line.replace('node 0', lines(abbreviated)[0].split('  ')[1]),
      ),
    );
  });

  test('of what is not a repository', async () => {
    const failed = await graph(['build', '--from-git', path('no-such'), '-o', path('refused.graph')]);
    expect(failed).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('no-such') });
    const without = await graph(['build', '--from-git', path('repository'), '-o', path('refused.graph')], {
      env: { PATH: dir },
    });
    expect(without).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('there is no git command') });
  });
});

test('a shallow clone: what lies beyond it is absent, and no commit there is a root', async () => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { stdio: 'pipe' });
  git('init', '-q', path('whole'));
  for (let i = 0; i < 4; i++) git('-C', path('whole'), 'commit', '-q', '--allow-empty', '-m', `commit ${i}`);
  git('clone', '-q', '--depth', '2', `file://${path('whole')}`, path('shallow'));
  const built = await graph(['build', '--from-git', path('shallow'), '-o', path('shallow.graph'), '--json']);
  expect(JSON.parse(built.stdout)).toMatchObject({ nodes: 2, absent: 1, references: 2 });
});
