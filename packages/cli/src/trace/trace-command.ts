// `spanline trace`: the tree of its commands. Nothing runs here.
import type { Command } from 'commander';
import { addSubcommands, type Subcommands, type Words } from '../subcommands.js';

const SUBCOMMANDS: Subcommands = {
  'ls search': () => import('./list-command.js'),
  show: () => import('./show-command.js'),
  export: () => import('./export-command.js'),
  import: () => import('./import-command.js'),
};

/** Register the commands. */
export const registerTrace = async (program: Command, words: Words): Promise<void> => {
  const trace = program
    .command('trace')
    .description('finished traces in an archive: list, search, show as a waterfall, export, import')
    .addHelpText(
      'after',
      `
An archive is a directory that ArchiveReporter, spanline serve or spanline trace import has written. Name it with --archive or
SPANLINE_ARCHIVE. Reading changes nothing in it, also while others write.

Examples:
  $ spanline trace ls --archive ./traces
  $ spanline trace search --archive ./traces --status error --from 1h
  $ spanline trace show --archive ./traces 4bf9

Exit codes: 0 done, 1 nothing found, 2 wrong usage, 3 the archive cannot be read.`,
    );
  await addSubcommands(trace, SUBCOMMANDS, words);
};
