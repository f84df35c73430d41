// `spanline graph`: the tree of its commands. Nothing runs here.
import type { Command } from 'commander';
import { registerAncestors } from './ancestors-command.js';
import { registerBuild } from './build-command.js';
import { registerGet } from './get-command.js';
import { registerInfo } from './info-command.js';
import { registerSalvage } from './salvage-command.js';
import { registerVerify } from './verify-command.js';

/** Register the commands. */
export const registerGraph = (program: Command): void => {
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
  registerBuild(graph);
  registerInfo(graph);
  registerGet(graph);
  registerAncestors(graph);
  registerVerify(graph);
  registerSalvage(graph);
};
