// The nodes of each key set, the same for every subject: commits by hash, the same commits by name, spans by trace.
import { readFileSync } from 'node:fs';
import { randomBytes, seededRandom } from './random.mjs';
import { history, sizes } from './settings.mjs';

const SPANS_PER_TRACE = 30;
const TRACE_BYTES = 16;
const SPAN_BYTES = 8;
const AUTHORS = 1500;
const FIRST_SECOND = Date.UTC(2005, 3, 7) / 1000;
const SECONDS_A_COMMIT = 8000;

/**
 * Nodes in the order in which they were made. `parents`: numbers of nodes; `heads`: nodes that nobody refers to.
 * @typedef {{ keys: Buffer[], parents: number[][], heads: number[], groupBytes: number }} Nodes
 */

const headsOf = (parents) => {
  const isParent = new Uint8Array(parents.length);
  for (const list of parents) for (const parent of list) isParent[parent] = 1;
  return [...isParent.keys()].filter((number) => isParent[number] === 0);
};

let parsed;
const commits = () => {
  if (parsed !== undefined) return parsed;
  const numbers = new Map();
  const parents = [];
  for (const line of readFileSync(history.path, 'latin1').trimEnd().split('\n')) {
    const [id, ...others] = line.split(' ');
    parents.push(others.map((parent) => numbers.get(parent)));
    numbers.set(id, numbers.size);
  }
  parsed = { ids: [...numbers.keys()], parents, heads: headsOf(parents) };
  return parsed;
};

const byHash = () => {
  const { ids, parents, heads } = commits();
  return { keys: ids.map((id) => Buffer.from(id, 'hex')), parents, heads, groupBytes: 0 };
};

const word = (random, letters) =>
  Array.from({ length: letters }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join('');

/** Names as bzr gives them: who, when, and 16 random digits. A few authors make most commits. */
const byName = () => {
  const { parents, heads } = commits();
  const random = seededRandom(2);
  const authors = Array.from({ length: AUTHORS }, () => {
    const [name, host] = [word(random, 4 + Math.floor(random() * 8)), word(random, 5 + Math.floor(random() * 6))];
    return `${name}@${host}.${random() < 0.6 ? 'com' : 'org'}`;
  });
  let second = FIRST_SECOND;
  const keys = parents.map(() => {
    const author = authors[Math.floor(AUTHORS * random() ** 4)];
    second += Math.ceil(2 * SECONDS_A_COMMIT * random());
    const date = new Date(second * 1000).toISOString().replace(/\D/g, '').slice(0, 14);
    return Buffer.from(`${author}-${date}-${randomBytes(random, 8).toString('hex')}`);
  });
  return { keys, parents, heads, groupBytes: 0 };
};

/** Traces of 30 spans with one root each; callers are recent spans more often than old ones. */
const bySpan = () => {
  const random = seededRandom(3);
  const keys = [];
  const parents = [];
  for (let trace = 0; trace < sizes.traces; trace++) {
    const id = randomBytes(random, TRACE_BYTES);
    const first = keys.length;
    for (let span = 0; span < SPANS_PER_TRACE; span++) {
      keys.push(Buffer.concat([id, randomBytes(random, SPAN_BYTES)]));
      const back = 1 + Math.floor(-3 * Math.log(1 - random()));
      parents.push(span === 0 ? [] : [first + Math.max(0, span - back)]);
    }
  }
  return { keys, parents, heads: headsOf(parents), groupBytes: TRACE_BYTES };
};

const SETS = { hash: byHash, names: byName, spans: bySpan };
const made = new Map();

/** @param {'hash' | 'names' | 'spans'} set @returns {Nodes} */
export const nodesOf = (set) => {
  if (!made.has(set)) made.set(set, SETS[set]());
  return made.get(set);
};

/** Numbers of the nodes in the order of their keys. */
export const sortedNumbers = (keys) => [...keys.keys()].sort((a, b) => Buffer.compare(keys[a], keys[b]));

/** What a reader must know of a key set. */
export const describe = (set) => {
  const { keys } = nodesOf(set);
  if (set === 'spans') return `${keys.length} spans, ${sizes.traces} traces`;
  return `${keys.length} commits, ${history.origin}, ${set === 'hash' ? '20-byte keys' : 'seeded names as bzr has them'}`;
};
