// The commit that the gate of CI compares with. It must never be the commit that is judged, which would be found no slower whatever it does.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const linesOf = (directory) =>
  existsSync(directory)
    ? readdirSync(directory)
        .filter((name) => name.endsWith('.jsonl'))
        .flatMap((name) => readFileSync(join(directory, name), 'utf8').split('\n').filter(Boolean))
    : [];

/**
 * What the environment names (SPANLINE_BENCH_BASE); else the newest commit of the history that HEAD came from; else the first parent of HEAD.
 * Undefined where the clone has none of them.
 * @param {{ root: string, env?: NodeJS.ProcessEnv }} options
 */
export function baseCommit({ root, env = process.env }) {
  const git = (...args) => {
    const { status, stdout } = spawnSync('git', ['-C', root, ...args], { encoding: 'utf8' });
    return status === 0 ? stdout.trim() : undefined;
  };
  if (env.SPANLINE_BENCH_BASE) return env.SPANLINE_BENCH_BASE;
  const recorded = new Set(linesOf(join(root, 'bench/history')).map((line) => JSON.parse(line).commit));
  const ancestors = (git('rev-list', '--topo-order', 'HEAD') ?? '').split('\n').slice(1);
  return ancestors.find((hash) => recorded.has(hash)) ?? git('rev-parse', '--verify', '--quiet', 'HEAD~1^{commit}');
}
