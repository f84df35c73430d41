// The commands of a group, each in a file that is loaded when the command line names it: what all of them need takes three times as long to
// load as Node itself. Where no single one is named, as for help or a mistyped name, all must be there.
import type { Command } from 'commander';

/** The files of a group, by the names of their commands, with blanks between. */
export type Subcommands = Readonly<Record<string, () => Promise<{ readonly register: (group: Command) => void }>>>;

/** The words of a command line that say which command is meant; undefined: the whole program is. */
export type Words = readonly string[] | undefined;

/** Those of the arguments of a command line. `help perf` is about all of a group. */
export const wordsOf = (args: readonly string[]): readonly string[] => {
  const words = args.filter((word) => word !== '--');
  return words[0] === 'help' ? words.slice(1, 2) : words;
};

/** Adds to a group what the words need of it: nothing if they are about another. */
export const addSubcommands = async (group: Command, files: Subcommands, words: Words): Promise<void> => {
  const [meant, name = ''] = words ?? [group.name()];
  if (meant !== group.name()) return;
  const named = Object.keys(files).filter((names) => names.split(' ').includes(name));
  for (const names of named.length > 0 ? named : Object.keys(files)) (await files[names]()).register(group);
};
