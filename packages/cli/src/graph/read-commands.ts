// `spanline graph info`, `get` and `ancestors`: what a graph file says of itself, single nodes, and all that nodes refer to, directly or not. Each
// reads no more than it must: the end of the file, the blocks of the nodes, references alone; keys are read for what is printed.

import {
  type CompactGraph,
  type GraphInfo,
  type GraphNode,
  type GraphView,
  NO_GRAPH,
  sectionName,
} from '@spanline/graph';
import { escapeText } from 'spanline/internal/base';
import { type Commands, command } from '../command.js';
import { ExitCode, endWith, notFound } from '../exit-code.js';
import { JSON_OPTION, wholeNumber } from '../options.js';
import { columns, note, printAnswer, writeOut } from '../output.js';
import { withGraph } from './graph-session.js';
import { findKey, type KeyForm, keyFormOf, keyText } from './key-form.js';

const keeps = ({ hasReferences, hasValues, hasBackPointers }: GraphInfo): string[] => [
  ...(hasReferences ? ['references'] : []),
  ...(hasValues ? ['values'] : []),
  ...(hasBackPointers ? ['keys'] : []),
];

const sectionsOf = ({ container }: CompactGraph) =>
  container.sections.map(({ id, graph, offset, storedLength }) => ({
    section: sectionName(id),
    ...(graph === NO_GRAPH ? {} : { graph }),
    offset,
    bytes: storedLength,
  }));

const infoText = (file: CompactGraph): string => {
  const { container, keyCount, graphs, meta } = file;
  const notes = Object.entries(meta.notes).map(([name, text]) => `${escapeText(`${name}: ${text}`)}\n`);
  const rows = graphs.map((info, i) => [
    `${i}`,
    `${info.nodeCount}`,
    `${info.ghostCount}`,
    `${info.edgeCount}`,
    `${info.referenceLists}`,
    info.order + (info.cycles ? ', cycles allowed' : ''),
    keeps(info).join(', '),
  ]);
  const head = ['graph', 'nodes', 'absent', 'references', 'lists', 'order', 'keeps'];
  const sections = sectionsOf(file).map(({ section, graph, offset, bytes }) => [
    section,
    graph === undefined ? '' : `${graph}`,
    `${offset}`,
    `${bytes}`,
    `${((bytes / container.size) * 100).toFixed(1)} %`,
  ]);
  const places = columns(['section', 'graph', 'offset', 'bytes', 'share'], sections, 'lrrrr');
  const first = `${container.transport.name}: ${container.storedSize} bytes, ${keyCount} keys\n`;
  return `${first}${notes.join('')}\n${columns(head, rows, 'rrrrr')}\n${places}`;
};

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

const printNode = async ({ key, ordinal, isAbsent, value, references }: Found): Promise<void> => {
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
    else await printNode(found);
  }
};

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

export const commands = {
  info: command({
    words: '<file>',
    what: 'graphs, nodes, sections and notes of a file (a path, http://, https:// or s3://)',
    options: { json: JSON_OPTION },
    help: `
Examples:
  $ spanline graph info commits.graph
  $ spanline graph info https://example.com/commits.graph --json

Exit codes: 0 done, 1 the file is damaged, 2 wrong usage, 3 it cannot be read or is not a graph file.`,
    run: ({ json }, path: string) =>
      withGraph(path, async (file) => {
        const { container, keyCount, graphs, meta } = file;
        const { groupBytes, notes } = meta;
        const facts = { file: path, bytes: container.storedSize, keyCount, groupBytes, notes, graphs };
        printAnswer(json, { ...facts, sections: sectionsOf(file) }, infoText(file));
      }),
  }),

  get: command({
    words: '<file> <key...>',
    what: 'the nodes with these keys: value and references',
    options: {
      graph: ['-g, --graph <number>', 'which graph of the file', wholeNumber(0), 0],
      json: ['--json', 'print JSON, one object a line'],
    },
    help: `
Keys that are hashes may be cut short, down to 4 digits. \\0 stands between the elements of a tuple key.

Examples:
  $ spanline graph get commits.graph $(git rev-parse HEAD)
  $ spanline graph get commits.graph 1a3e64c --json

Exit codes: 0 all found, 1 one is not there or the file is damaged, 2 wrong usage, 3 the file cannot be read.`,
    run: (options, path: string, keys: string[]) => withGraph(path, (file) => get(file, keys, options)),
  }),

  ancestors: command({
    words: '<file> <key...>',
    what: 'the nodes, and all they refer to directly or not, in the order of the file',
    options: {
      graph: ['-g, --graph <number>', 'which graph of the file', wholeNumber(0), 0],
      list: ['-l, --list <number>', 'which of its reference lists', wholeNumber(0), 0],
      count: ['-c, --count', 'print only their number'],
      limit: ['-n, --limit <nodes>', 'no more than this', wholeNumber(1)],
      json: ['--json', 'print JSON, one object a line; absent nodes too'],
    },
    help: `
Examples:
  $ spanline graph ancestors commits.graph $(git rev-parse HEAD) --count
  $ spanline graph ancestors commits.graph 1a3e64c --limit 10

Exit codes: 0 done, 1 a key is not there or the file is damaged, 2 wrong usage, 3 the file cannot be read.`,
    run: (options, path: string, keys: string[]) =>
      withGraph(path, (file, signal) => ancestors(file, keys, options, signal)),
  }),
} satisfies Commands;
