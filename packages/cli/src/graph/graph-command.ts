// `spanline graph`: the tree of its commands. Nothing runs here.
import type { Command } from 'commander';
import { addSubcommands, type Subcommands, type Words } from '../subcommands.js';

const SUBCOMMANDS: Subcommands = {
  build: () => import('./build-command.js'),
  info: () => import('./info-command.js'),
  get: () => import('./get-command.js'),
  ancestors: () => import('./ancestors-command.js'),
  verify: () => import('./verify-command.js'),
  salvage: () => import('./salvage-command.js'),
};

/** Register the commands. */
export const registerGraph = async (program: Command, words: Words): Promise<void> => {
  const graph = program
    .command('graph')
    .description('compact graph files: build, look up, walk, check, salvage')
    .addHelpText(
      'after',
      `
A graph file holds nodes with keys, values and references to other nodes, and never changes. Commands that read take a path,
http://, https:// or s3://; verify and salvage take a path.

Examples:
  $ spanline graph build --from-git . -o commits.graph
  $ spanline graph ancestors commits.graph $(git rev-parse HEAD) --count
  $ spanline graph verify commits.graph

Exit codes: 0 done, 1 not found or damaged, 2 wrong usage, 3 a file cannot be read or written.`,
    );
  await addSubcommands(graph, SUBCOMMANDS, words);
};
