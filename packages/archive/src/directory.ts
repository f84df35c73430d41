// What is in the directory of an archive now. Others add, merge and delete at any time: a listing must be of one moment, never half before
// and half after a merge.
import { readdir } from 'node:fs/promises';
import { NotFoundError, TransportError } from '@spanline/graph';
import { type OwnedName, parseSegmentName, parseWalName, type SegmentName } from './file-names.js';

/** Times a directory that keeps changing is read. */
const MAX_READS = 50;

/** Files of an archive. */
export interface DirectoryNames {
  /** The one that ends last first. */
  readonly segments: readonly SegmentName[];
  readonly wals: readonly OwnedName[];
}

const newestFirst = (a: SegmentName, b: SegmentName): number => b.endMs - a.endMs || (a.name < b.name ? -1 : 1);

const readNames = async (directory: string, mayBeMissing: boolean): Promise<string[]> => {
  try {
    return await readdir(directory);
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    if (isMissing && mayBeMissing) return [];
    if (isMissing) throw new NotFoundError(`there is no archive in ${directory}: no such directory`, { cause });
    throw new TransportError(`${directory} cannot be read: ${(cause as Error).message}`, { cause });
  }
};

const parse = (names: readonly string[]): DirectoryNames => ({
  segments: names.flatMap((name) => parseSegmentName(name) ?? []).sort(newestFirst),
  wals: names.flatMap((name) => parseWalName(name) ?? []).sort((a, b) => (a.name < b.name ? -1 : 1)),
});

/** Lists one directory again and again. */
export class DirectoryReader {
  readonly #directory: string;
  readonly #mayBeMissing: boolean;
  #lastText: string | undefined;
  #last: DirectoryNames = { segments: [], wals: [] };

  /** With `mayBeMissing` a directory that is not there has no files. */
  constructor(directory: string, mayBeMissing = false) {
    this.#directory = directory;
    this.#mayBeMissing = mayBeMissing;
  }

  /**
   * The files of one moment; the same object while they are the same. A file that appears while a directory is read may be missed, and the
   * one it stands for be gone already: so it is read until two readings are the same. No name comes again, so the same names as before
   * are still there.
   */
  async list(): Promise<DirectoryNames> {
    for (let reads = 0; reads < MAX_READS; reads++) {
      const names = await readNames(this.#directory, this.#mayBeMissing);
      const text = names.join('\n');
      if (text === this.#lastText) return this.#last;
      this.#lastText = text;
      this.#last = parse(names);
    }
    return this.#last;
  }
}
