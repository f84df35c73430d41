// The commits that are measured, as text: an id and its parents a line, parents first. From a file (SPANLINE_BENCH_DAG), from a
// repository (SPANLINE_BENCH_REPOSITORY), or made by a seed; which one must always be told with the results.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { seededRandom } from './random.mjs';
import { folder, SIZES } from './settings.mjs';

const MAX_TEXT_BYTES = 1 << 30;
/** As in git's own history. */
const MERGES = 0.26;
const MAX_BRANCHES = 40;

const fromFile = (path) => {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1');
  return { origin: basename(path), lines: text.split('\n') };
};

const fromRepository = (path) => {
  const args = ['-C', path, 'rev-list', '--parents', '--topo-order', '--reverse', '--all'];
  const text = execFileSync('git', args, { encoding: 'latin1', maxBuffer: MAX_TEXT_BYTES });
  return { origin: `the repository ${basename(resolve(path))}`, lines: text.split('\n') };
};

/** Long lines of work that begin beside the main one, live for a while and are merged. */
const synthetic = (commits) => {
  const random = seededRandom(1);
  const ids = Array.from({ length: commits }, (_, i) => createHash('sha1').update(`commit ${i}`).digest('hex'));
  const tips = [0];
  const lines = [ids[0]];
  for (let commit = 1; commit < commits; commit++) {
    const branch = Math.floor(random() * tips.length);
    const isMerge = tips.length > 1 && random() < (MERGES * tips.length) / (MAX_BRANCHES / 2);
    const other = isMerge ? (branch + 1 + Math.floor(random() * (tips.length - 1))) % tips.length : undefined;
    const parents = isMerge ? [tips[branch], tips[other]] : [tips[branch]];
    lines.push([commit, ...parents].map((number) => ids[number]).join(' '));
    // As many begin as end.
    if (!isMerge && tips.length < MAX_BRANCHES && random() < MERGES / (1 - MERGES)) tips.push(commit);
    else tips[branch] = commit;
    if (isMerge) tips.splice(other, 1);
  }
  return { origin: `a synthetic history of ${commits} commits`, lines };
};

/** Lines whose parents all stand before them, as far as they are there; absent parents are left out, which git could not have. */
const checked = (lines) => {
  const known = new Set();
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const [id, ...parents] = line.trim().split(' ');
      known.add(id);
      return [id, ...parents.filter((parent) => known.has(parent))].join(' ');
    });
};

/**
 * Write the history where subjects find it.
 * @returns {{ path: string, origin: string, tag: string }}
 */
export const prepareHistory = (size) => {
  const { SPANLINE_BENCH_DAG: file, SPANLINE_BENCH_REPOSITORY: repository } = process.env;
  const found = file ? fromFile(file) : repository ? fromRepository(repository) : synthetic(SIZES.full.commits);
  const all = checked(found.lines);
  const lines = size === 'quick' ? all.slice(0, SIZES.quick.commits) : all;
  const text = `${lines.join('\n')}\n`;
  const tag = createHash('sha1').update(text).digest('hex').slice(0, 8);
  const path = join(folder, `history-${tag}.txt`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, text);
  const part = lines.length < all.length ? `the first ${lines.length} commits of ` : '';
  return { path, tag, origin: `${part}${found.origin}` };
};
