// Runs bodies of tests on an engine: on a fresh LMDB directory in their own file, and on a fresh table of the Bigtable emulator in the
// file `bigtable.*.test.ts` of their folder. The quick suite would take twice as long with both.
import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';
import { describeBigtable } from '../../../../test/support/bigtable-emulator.js';
import { openTable } from '../../src/table/open-table.js';
import type { TableSchema, WideColumnTable } from '../../src/table/wide-column-table.js';
import { storeFolder } from './store-folder.js';

/** What a body gets. */
export interface Engine {
  /** A location nobody used before. */
  location(): Promise<string>;
  /** A table nobody used before; closed when the file's tests are over. */
  table(schema: TableSchema): Promise<WideColumnTable>;
}

const engineAt = (location: () => Promise<string>): Engine => {
  const open: WideColumnTable[] = [];
  afterAll(() => Promise.all(open.map((table) => table.close())));
  return {
    location,
    async table(schema) {
      const table = await openTable(await location(), schema);
      open.push(table);
      return table;
    },
  };
};

/** Whether this file takes bodies from others, to run them on Bigtable. */
let isOnBigtable = false;

const onLmdbHere = (name: string, body: (engine: Engine) => void): void => {
  describe(`${name} (lmdb)`, () => {
    const made: string[] = [];
    afterAll(() => Promise.all(made.map((dir) => rm(dir, { recursive: true, force: true }))));
    body(
      engineAt(async () => {
        const dir = storeFolder('spanline-table-');
        made.push(dir);
        return dir;
      }),
    );
  });
};

/** Run `body` on LMDB only. */
export const onLmdb = (name: string, body: (engine: Engine) => void): void => {
  if (!isOnBigtable) onLmdbHere(name, body);
};

/** Run `body` on LMDB, and on Bigtable where `onBigtable` takes it. */
export const onBothEngines = (name: string, body: (engine: Engine) => void): void => {
  if (!isOnBigtable) onLmdbHere(name, body);
  else describeBigtable(`${name} (bigtable)`, (emulator) => body(engineAt(async () => emulator.location())));
};

/** Run what `files` of a directory, by default all, have for both engines on Bigtable. */
export const onBigtable = async (
  directory: string,
  files: readonly string[] = readdirSync(directory).filter((file) => /(?<!\.nightly)\.test\.ts$/.test(file)),
): Promise<void> => {
  isOnBigtable = true;
  try {
    for (const file of files.map((name) => join(directory, name))) {
      if (/^onBothEngines\(/m.test(readFileSync(file, 'utf8'))) await import(file);
    }
  } finally {
    isOnBigtable = false;
  }
};
