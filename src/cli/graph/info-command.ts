// `spanline graph info`: what a graph file says of itself. It reads the end of the file and no more.
import type { Command } from 'commander';
import { type CompactGraph, type GraphInfo, NO_GRAPH, sectionName } from '../../graph/index.js';
import { columns } from '../columns.js';
import { printJson, writeOut } from '../store-session.js';
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

const print = async (file: CompactGraph): Promise<void> => {
  const { container, keyCount, graphs, meta } = file;
  await writeOut(`${container.transport.name}: ${container.size} bytes, ${keyCount} keys\n`);
  for (const [name, text] of Object.entries(meta.notes)) await writeOut(`${name}: ${text}\n`);
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
  await writeOut(`\n${columns(head, rows, 'rrrrr')}`);
  const sections = sectionsOf(file).map(({ section, graph, offset, bytes }) => [
    section,
    graph === undefined ? '' : `${graph}`,
    `${offset}`,
    `${bytes}`,
    `${((bytes / container.size) * 100).toFixed(1)} %`,
  ]);
  const places = columns(['section', 'graph', 'offset', 'bytes', 'share'], sections, 'lrrrr');
  await writeOut(`\n${places}`);
};

/** Register the command. */
export const registerInfo = (graph: Command): void => {
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

Exit codes: 0 done, 1 the file is damaged, 2 wrong usage, 3 it cannot be read or is no graph file.`,
    )
    .action((path: string, { json }: { readonly json?: boolean }) =>
      withGraph(path, async (file) => {
        if (!json) return print(file);
        const { container, keyCount, graphs, meta } = file;
        const { groupBytes, notes } = meta;
        printJson({
          file: path,
          bytes: container.size,
          keyCount,
          groupBytes,
          notes,
          graphs,
          sections: sectionsOf(file),
        });
      }),
    );
};
