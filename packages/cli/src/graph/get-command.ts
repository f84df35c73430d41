// `spanline graph get`: single nodes of a file. Their blocks are read, and nothing else.

import type { CompactGraph, GraphNode, GraphView } from '@spanline/graph';
import type { Command } from 'commander';
import { escapeText } from 'spanline/internal/base';
import { ExitCode, endWith } from '../exit-code.js';
import { wholeNumber } from '../options.js';
import { note, writeOut } from '../output.js';
import { withGraph } from './graph-session.js';
import { findKey, type KeyForm, keyFormOf, keyText } from './key-form.js';

interface GetOptions {
  readonly graph: number;
  readonly json?: boolean;
}

interface Found {
  readonly key: string;
  readonly ordinal: number;
  readonly isAbsent: boolean;
  readonly value?: string;
  readonly references: readonly (readonly string[])[];
}

/** The keys of references; their numbers where the graph does not keep which key a node has. */
const referredKeys = async (view: GraphView, { references = [] }: GraphNode, form: KeyForm): Promise<string[][]> =>
  Promise.all(
    references.map(async (list) =>
      view.info.hasBackPointers
        ? (await view.keysOf(list)).map((key) => keyText(key, form))
        : Array.from(list, (ordinal) => `#${ordinal}`),
    ),
  );

const nodeOf = async (view: GraphView, key: Buffer, form: KeyForm): Promise<Found | undefined> => {
  const ordinal = await view.ordinalOf(key);
  if (ordinal === -1) return undefined;
  const { hasValues: values, hasReferences: references } = view.info;
  const [node] = await view.nodes([ordinal], { values, references });
  return {
    key: keyText(key, form),
    ordinal,
    isAbsent: node.isGhost,
    ...(node.value === undefined ? {} : { value: keyText(node.value, 'text') }),
    references: await referredKeys(view, node, form),
  };
};

const print = async ({ key, ordinal, isAbsent, value, references }: Found): Promise<void> => {
  const lines = [`${key}  ${isAbsent ? 'absent, but referred to' : `node ${ordinal}`}`];
  if (value !== undefined) lines.push(`  value ${value}`);
  references.forEach((list, i) => {
    const name = references.length === 1 ? 'references' : `references ${i}`;
    if (!isAbsent) lines.push(`  ${name} ${list.length === 0 ? 'none' : list.join(' ')}`);
  });
  await writeOut(`${lines.map(escapeText).join('\n')}\n`);
};

const get = async (file: CompactGraph, texts: readonly string[], { graph, json }: GetOptions): Promise<void> => {
  const view = file.graph(graph);
  const form = await keyFormOf(file);
  for (const text of texts) {
    const key = await findKey(file, text, form);
    const found = key === undefined ? undefined : await nodeOf(view, key, form);
    if (found === undefined) {
      note(`graph ${graph} has no node ${text}`);
      endWith(ExitCode.findings);
    } else if (json) await writeOut(`${JSON.stringify(found)}\n`);
    else await print(found);
  }
};

/** Register the command. */
export const register = (graph: Command): void => {
  graph
    .command('get <file> <key...>')
    .description('the nodes with these keys: value and references')
    .option('-g, --graph <number>', 'which graph of the file', wholeNumber(0), 0)
    .option('--json', 'print JSON, one object a line')
    .addHelpText(
      'after',
      `
Keys that are hashes may be cut short, down to 4 digits. \\0 stands between the elements of a tuple key.

Examples:
  $ spanline graph get commits.graph $(git rev-parse HEAD)
  $ spanline graph get commits.graph 1a3e64c --json

Exit codes: 0 all found, 1 one is not there or the file is damaged, 2 wrong usage, 3 the file cannot be read.`,
    )
    .action((path: string, keys: string[], options: GetOptions) => withGraph(path, (file) => get(file, keys, options)));
};
