// Runs one body of tests on both engines: a fresh LMDB directory, and a fresh table of the Bigtable emulator.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';
import { openTable } from '../../../src/tracedb/table/open-table.js';
import type { TableSchema, WideColumnTable } from '../../../src/tracedb/table/wide-column-table.js';
import { describeBigtable } from '../../support/bigtable-emulator.js';

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

/** Run `body` on LMDB only. */
export const onLmdb = (name: string, body: (engine: Engine) => void): void => {
  describe(`${name} (lmdb)`, () => {
    const made: string[] = [];
    afterAll(() => Promise.all(made.map((dir) => rm(dir, { recursive: true, force: true }))));
    body(
      engineAt(async () => {
        const dir = await mkdtemp(join(tmpdir(), 'spanline-table-'));
        made.push(dir);
        return dir;
      }),
    );
  });
};

/** Run `body` on both engines. */
export const onBothEngines = (name: string, body: (engine: Engine) => void): void => {
  onLmdb(name, body);
  describeBigtable(`${name} (bigtable)`, (emulator) => body(engineAt(async () => emulator.location())));
};
