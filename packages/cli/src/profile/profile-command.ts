// `spanline profile`: the tree of its commands. Nothing runs here.
import type { Command } from 'commander';
import { addSubcommands, type Subcommands, type Words } from '../subcommands.js';

const SUBCOMMANDS: Subcommands = {
  run: () => import('./run-command.js'),
  attach: () => import('./attach-command.js'),
  top: () => import('./top-command.js'),
  diff: () => import('./diff-command.js'),
  export: () => import('./export-command.js'),
};

/** Register the commands. */
export const registerProfile = async (program: Command, words: Words): Promise<void> => {
  const profile = program
    .command('profile')
    .description('CPU profiles whose samples know the query, trace or tenant they worked for')
    .enablePositionalOptions()
    .addHelpText(
      'after',
      `
Examples:
  $ spanline profile run -- node app.js            profile a program from its start to its end
  $ spanline profile attach 4711 --seconds 30      profile a process that runs
  $ spanline profile top cpu.pb.gz --by query      CPU by query
  $ spanline profile diff old.pb.gz new.pb.gz --by query
  $ spanline profile export cpu.pb.gz --format speedscope --out cpu.speedscope.json

Samples bear the labels that the program gives with DynamicLabel of @spanline/profile.`,
    );
  await addSubcommands(profile, SUBCOMMANDS, words);
};
