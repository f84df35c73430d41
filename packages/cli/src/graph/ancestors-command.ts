// `spanline graph ancestors`: all that nodes refer to, directly or not. The walk reads references alone; keys are read for what is printed.

import type { CompactGraph } from '@spanline/graph';
import type { Command } from 'commander';
import { notFound } from '../exit-code.js';
import { wholeNumber } from '../options.js';
import { note, writeOut } from '../output.js';
import { withGraph } from './graph-session.js';
import { findKey, keyFormOf, keyText } from './key-form.js';

interface AncestorsOptions {
  readonly graph: number;
  readonly list: number;
  readonly count?: boolean;
  readonly limit?: number;
  readonly json?: boolean;
}

/** Keys printed at a time. */
const BATCH = 16_384;

const startsOf = async (file: CompactGraph, texts: readonly string[], graph: number): Promise<number[]> => {
  const form = await keyFormOf(file);
  const starts: number[] = [];
  for (const text of texts) {
    const key = await findKey(file, text, form);
    const ordinal = key === undefined ? -1 : await file.graph(graph).ordinalOf(key);
    if (ordinal === -1) {
      throw notFound(`graph ${graph} has no node ${text}`);
    }
    starts.push(ordinal);
  }
  return starts;
};

const ancestors = async (
  file: CompactGraph,
  texts: readonly string[],
  { graph, list, count, limit, json }: AncestorsOptions,
  signal: AbortSignal,
): Promise<void> => {
  const view = file.graph(graph);
  const starts = await startsOf(file, texts, graph);
  const { nodes, ghosts } = await view.ancestry(starts, { list, signal });
  if (count) {
    const counts = { nodes: nodes.length, absent: ghosts.length };
    await writeOut(json ? `${JSON.stringify(counts)}\n` : `${nodes.length}\n`);
    return;
  }
  const form = await keyFormOf(file);
  // Absent nodes stand behind all others, as in the file.
  const reached = json ? [...nodes, ...ghosts] : nodes;
  const shown = reached.slice(0, limit ?? reached.length);
  for (let start = 0; start < shown.length; start += BATCH) {
    const some = shown.slice(start, start + BATCH);
    const keys = (await view.keysOf(some, { signal })).map((key) => keyText(key, form));
    const lineOf = (key: string, i: number): string =>
      json ? JSON.stringify({ key, ordinal: some[i], isAbsent: some[i] >= view.nodeCount }) : key;
    await writeOut(`${keys.map(lineOf).join('\n')}\n`);
  }
  if (!json && ghosts.length > 0) note(`${ghosts.length} more are referred to and absent; --json lists them`);
};

/** Register the command. */
export const register = (graph: Command): void => {
  graph
    .command('ancestors <file> <key...>')
    .description('the nodes, and all they refer to directly or not, in the order of the file')
    .option('-g, --graph <number>', 'which graph of the file', wholeNumber(0), 0)
    .option('-l, --list <number>', 'which of its reference lists', wholeNumber(0), 0)
    .option('-c, --count', 'print only their number')
    .option('-n, --limit <nodes>', 'no more than this', wholeNumber(1))
    .option('--json', 'print JSON, one object a line; absent nodes too')
    .addHelpText(
      'after',
      `
Examples:
  $ spanline graph ancestors commits.graph $(git rev-parse HEAD) --count
  $ spanline graph ancestors commits.graph 1a3e64c --limit 10

Exit codes: 0 done, 1 a key is not there or the file is damaged, 2 wrong usage, 3 the file cannot be read.`,
    )
    .action((path: string, keys: string[], options: AncestorsOptions) =>
      withGraph(path, (file, signal) => ancestors(file, keys, options, signal)),
    );
};
