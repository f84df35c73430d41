// Rewrites a store as version 1 kept it: an entry for each cell, its time in six bytes before its value.
import { type Database, type DatabaseOptions, open } from 'lmdb';
import { cellKey, KEY_ENCODER } from '../../../../src/tracedb/table/lmdb/cell-key.js';
import type { WideColumnTable } from '../../../../src/tracedb/table/wide-column-table.js';

type Named = DatabaseOptions & { name: string };

/** All rows of `table`, which is closed, as a store of version 1 in the same directory. Rows must be short enough for one key. */
export const rewriteAsVersion1 = async (table: WideColumnTable): Promise<void> => {
  const entries: { key: string; bytes: Buffer }[] = [];
  for await (const rows of table.readRows({ prefix: '' })) {
    for (const { key: row, cells } of rows) {
      for (const { family, qualifier, value, timestampMs } of cells) {
        const bytes = Buffer.alloc(6 + value.length);
        bytes.writeUIntBE(timestampMs, 0, 6);
        bytes.set(value, 6);
        entries.push({ key: cellKey(row, family, qualifier), bytes });
      }
    }
  }
  await table.close();
  const root = open({
    path: table.location,
    noSubdir: false,
    pageSize: 8192,
    encoding: 'binary',
    maxDbs: 4,
    overlappingSync: false,
  });
  const database = (name: string): Database<Buffer, string> =>
    root.openDB({ name, encoding: 'binary', keyEncoder: KEY_ENCODER } as Named);
  const meta = database('meta');
  const cells = database('cells');
  await root.transaction(() => {
    // Without a start it begins behind the keys that lmdb takes for its own.
    for (const key of [...cells.getKeys({ start: '' })]) cells.removeSync(key);
    for (const { key, bytes } of entries) cells.putSync(key, bytes);
    const { families } = JSON.parse(String(meta.getBinary('schema')));
    meta.putSync('schema', Buffer.from(JSON.stringify({ version: 1, families })));
  });
  await root.close();
};

/** The schema of a closed store. */
export const schemaOf = async (path: string): Promise<unknown> => {
  const root = open({ path, noSubdir: false, pageSize: 8192, encoding: 'binary', maxDbs: 4, overlappingSync: false });
  const meta: Database<Buffer, string> = root.openDB({
    name: 'meta',
    encoding: 'binary',
    keyEncoder: KEY_ENCODER,
  } as Named);
  const schema = JSON.parse(String(meta.getBinary('schema')));
  await root.close();
  return schema;
};
