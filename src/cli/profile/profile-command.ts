// `spanline profile`: the tree of its commands. Nothing runs here.
import type { Command } from 'commander';
import { registerAttach } from './attach-command.js';
import { registerDiff } from './diff-command.js';
import { registerExport } from './export-command.js';
import { registerRun } from './run-command.js';
import { registerTop } from './top-command.js';

/** Register the commands. */
export const registerProfile = (program: Command): void => {
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

Samples bear the labels that the program gives with DynamicLabel of spanline/profile.`,
    );
  registerRun(profile);
  registerAttach(profile);
  registerTop(profile);
  registerDiff(profile);
  registerExport(profile);
};
