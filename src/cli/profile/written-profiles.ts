// Which profiles are in the place that a program under profile writes to, so that those of an earlier program are not taken for its own.
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { EXTENSION_OF } from '../../profile/output/profile-format.js';

const stemOf = (file: string): string => {
  const extension = Object.values(EXTENSION_OF).find((each) => file.endsWith(each)) ?? '';
  return basename(file).slice(0, basename(file).length - extension.length);
};

const namesIn = (dir: string): string[] => {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
};

/** One text for each state of each file: of the directory `out`, or of the file `out` and those of child processes and workers beside it. */
export const profilesIn = (out: string, isDirectory: boolean): Set<string> => {
  const dir = isDirectory ? out : dirname(out);
  const stem = stemOf(out);
  const names = namesIn(dir).filter((name) => isDirectory || name === basename(out) || name.startsWith(`${stem}-`));
  const states = names.flatMap((name) => {
    const found = statSync(join(dir, name), { throwIfNoEntry: false, bigint: true });
    return found === undefined ? [] : [`${name} ${found.ino} ${found.mtimeNs} ${found.size}`];
  });
  return new Set(states);
};
