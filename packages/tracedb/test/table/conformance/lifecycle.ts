// A table keeps what was acknowledged, counts what it did, and refuses calls when it is closed.
import { describe, expect, test } from 'vitest';
import { openTable } from '../../../src/table/open-table.js';
import { all, lines, numbered, plainRows, rejects, row, set, type Tables, thenDo } from './suite.js';

export const lifecycle = ({ open, engine }: Tables): void => {
  describe('life of a table', () => {
    test('says what it is', async () => {
      const location = engine.newLocation();
      const table = await open(['V'], location);
      expect([table.engine, table.location]).toEqual([engine.name, location]);
    });

    test('what was written is there when it is opened again, with old and new families', async () => {
      const location = engine.newLocation();
      const first = await open(['V', 'S'], location);
      await first.mutateRows([row('r', set('c', 'v', 5), set('c', 's', 6, 'S'))]);
      await first.incrementCell('n', 'V', 'n', 7);
      await first.close();

      const again = await open(['V', 'New'], location);
      expect((await lines(again)).slice(1)).toEqual(['r S:c=s@6 V:c=v@5']);
      await again.mutateRows([row('r', set('c', 'n', 7, 'New'), set('d', 's', 7, 'S'))]);
      expect((await lines(again)).slice(1)).toEqual(['r New:c=n@7 S:c=s@6 S:d=s@7 V:c=v@5']);
      expect(await again.incrementCell('n', 'V', 'n', 1)).toBe(8);
    });

    test('what is missing is not made when the schema says so', async () => {
      const location = engine.newLocation();
      const noTable = 'ERR_SPANLINE_NOT_FOUND';
      const existing = (...families: string[]) => openTable(location, { families, make: false });
      // Twice: the first must not have made it.
      await rejects(existing('V'), noTable);
      await rejects(existing('V'), noTable);
      const made = await open(['V', 'S'], location);
      await made.mutateRows([row('r', set('c', 'v', 5))]);
      await made.close();
      await rejects(existing('V', 'New'), noTable);
      const found = await existing('V');
      expect(await lines(found)).toEqual(['r V:c=v@5']);
      await rejects(found.mutateRows([row('r', set('c', 'n', 7, 'New'))]), 'ERR_SPANLINE_TABLE_LIMIT');
      await found.close();
    });

    test('a closed table refuses every call; closing again is fine', async () => {
      const table = await open();
      await table.mutateRows(plainRows(numbered(3000)));
      const reading = table.readRows({ prefix: '' });
      await reading.next();
      const unused = table.readKeys({ prefix: '' });
      await table.close();
      await table.close();
      const closed = 'ERR_SPANLINE_STORE_CLOSED';
      await rejects(reading.next(), closed);
      await rejects(unused.next(), closed);
      await rejects(all(table.readRows({ prefix: '' })), closed);
      await rejects(table.readRow('00001'), closed);
      await rejects(table.mutateRows([row('r', set('c', 'v'))]), closed);
      await rejects(table.incrementCell('r', 'V', 'n', 1), closed);
      await rejects(table.checkAndMutateRow('r', { family: 'V', qualifier: 'c' }, thenDo(set('c', 'v'))), closed);
      await rejects(table.sampleRowKeys(), closed);
      expect(table.stats().openReads).toBe(0);
    });

    test('a write on its way when the table is closed is either whole or refused', async () => {
      const location = engine.newLocation();
      const table = await open(['V'], location);
      const write = table.mutateRows(plainRows(numbered(2000))).then(
        () => 2000,
        () => 0,
      );
      await table.close();
      const written = await write;
      expect((await lines(await open(['V'], location))).length).toBe(written);
    });

    test('counts what it did', async () => {
      const table = await open();
      expect(table.stats()).toEqual({
        reads: 0,
        rowsRead: 0,
        bytesRead: 0,
        writes: 0,
        rowsWritten: 0,
        bytesWritten: 0,
        rowsRefused: 0,
        openReads: 0,
      });
      await table.mutateRows([row('a', set('c', 'value')), row('b', set('c', 'v'), set('d', 'w'))]);
      await table.incrementCell('n', 'V', 'n', 1);
      const predicate = { family: 'V', qualifier: 'c' };
      await table.checkAndMutateRow('a', predicate, thenDo(set('e', 'x')));
      await table.checkAndMutateRow('a', predicate, { otherwise: [set('e', 'y')] });
      await rejects(table.mutateRows([row('', set('c', 'v')), row('x', set('c', 'v'))]), 'ERR_SPANLINE_TABLE_LIMIT');
      await lines(table);
      await all(table.readKeys({ prefix: '' }, { limit: 2 }));
      await table.readRow('a');
      await table.readRow('missing');
      expect(table.stats()).toEqual({
        reads: 4,
        rowsRead: 6,
        bytesRead: 35,
        writes: 3,
        rowsWritten: 4,
        bytesWritten: 23,
        rowsRefused: 2,
        openReads: 0,
      });
    });
  });
};
