// `spanline graph info`: what a graph file says of itself. It reads the end of the file and no more.

import { type CompactGraph, type GraphInfo, NO_GRAPH, sectionName } from '@spanline/graph';
import type { Command } from 'commander';
import { columns, printAnswer } from '../output.js';
import { withGraph } from './graph-session.js';

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

const textOf = (file: CompactGraph): string => {
  const { container, keyCount, graphs, meta } = file;
  const notes = Object.entries(meta.notes).map(([name, text]) => `${name}: ${text}\n`);
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
  const first = `${container.transport.name}: ${container.size} bytes, ${keyCount} keys\n`;
  return `${first}${notes.join('')}\n${columns(head, rows, 'rrrrr')}\n${places}`;
};

/** Register the command. */
export const register = (graph: Command): void => {
  graph
    .command('info <file>')
    .description('graphs, nodes, sections and notes of a file (a path, http://, https:// or s3://)')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ spanline graph info commits.graph
  $ spanline graph info https://example.com/commits.graph --json

Exit codes: 0 done, 1 the file is damaged, 2 wrong usage, 3 it cannot be read or is not a graph file.`,
    )
    .action((path: string, { json }: { readonly json?: boolean }) =>
      withGraph(path, async (file) => {
        const { container, keyCount, graphs, meta } = file;
        const { groupBytes, notes } = meta;
        const facts = { file: path, bytes: container.size, keyCount, groupBytes, notes, graphs };
        printAnswer(json, { ...facts, sections: sectionsOf(file) }, textOf(file));
      }),
    );
};
