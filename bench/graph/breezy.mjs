// A Python process that works with bzr's graph indexes (breezy_graph.py). It gets one task a line and answers each with one line.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { filePath, scratchPath } from './files.mjs';
import { lookupKeys, SETS } from './lookups.mjs';
import { nodesOf } from './nodes.mjs';

const PROGRAM = fileURLToPath(new URL('./breezy_graph.py', import.meta.url));

export const indexPath = (set) => filePath('bzr', set, 'bti');

/** Keys as bzr allows them: without white space, so bytes are in hexadecimal; a span has two elements. */
const elementsOf = (set, key) => {
  if (set === 'names') return [key.latin1Slice()];
  const hex = key.toString('hex');
  return set === 'spans' ? [hex.slice(0, 32), hex.slice(32)] : [hex];
};

/** A key set as text for Python: numbers of parents behind the key, and the lists of heads and of keys to look up. */
const writeNodes = (set) => {
  const { keys, parents, heads } = nodesOf(set);
  const path = scratchPath(`${set}.txt`);
  const lines = keys.map((key, i) => [elementsOf(set, key).join(' '), parents[i].join(' ')].join('\t'));
  const asked = lookupKeys(set).keys.map((key) => elementsOf(set, key).join(' '));
  writeFileSync(path, `${lines.join('\n')}\n\n${heads.join(' ')}\n${asked.join('\n')}\n`);
  return path;
};

/** A Python with the key set loaded; `ask` gives what it answers. */
export const startBreezy = async (set) => {
  const child = spawn(process.env.SPANLINE_BENCH_PYTHON, [PROGRAM, writeNodes(set), indexPath(set)], {
    stdio: ['pipe', 'pipe', 2],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (task) => {
    child.stdin.write(`${JSON.stringify(task)}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error(`breezy_graph.py ended at ${task.task}`);
    return JSON.parse(value);
  };
  const stop = async () => {
    child.stdin.end();
    await once(child, 'close');
  };
  return { ask, stop };
};

export const buildIndexes = async () => {
  for (const set of SETS) {
    const path = indexPath(set);
    if (existsSync(path)) continue;
    const breezy = await startBreezy(set);
    await breezy.ask({ task: 'build', path: `${path}.new` });
    await breezy.stop();
    renameSync(`${path}.new`, path);
  }
};

/** Bytes of an index. */
export const indexBytes = (set) => statSync(indexPath(set)).size;
