// Connections that are cut, a server that dies, tables that change under us: nothing is lost silently, and nothing stays open.

import { afterEach, expect, test } from 'vitest';
import { findEmulator, startEmulator } from '../../../../../scripts/lib/bigtable-emulator.mjs';
import { describeBigtable } from '../../../../../test/support/bigtable-emulator.js';
import { startProxy, type TcpProxy } from '../../../../../test/support/tcp-proxy.js';
import { openBigtableTable } from '../../../src/table/bigtable/bigtable-table.js';
import { connect, parseBigtableLocation, tableName } from '../../../src/table/bigtable/client.js';
import type { WideColumnTable } from '../../../src/table/wide-column-table.js';
import { PartialFailureError } from '../../../src/tracedb-error.js';
import { all, lines, numbered, plainRows, rejects, row, set } from '../conformance/suite.js';

const COUNT = 8000;

describeBigtable('over the network', (emulator) => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    process.env.BIGTABLE_EMULATOR_HOST = emulator.host;
  });

  const open = async (location = emulator.location(), families = ['V', 'S']): Promise<WideColumnTable> => {
    const table = await openBigtableTable(location, { families });
    closing.unshift(() => table.close());
    return table;
  };

  /** A filled table behind a proxy. */
  const behindProxy = async (): Promise<{ table: WideColumnTable; proxy: TcpProxy }> => {
    const location = emulator.location();
    await (await open(location)).mutateRows(plainRows(numbered(COUNT)));
    const proxy = await startProxy(emulator.host);
    closing.push(() => proxy.close());
    process.env.BIGTABLE_EMULATOR_HOST = proxy.host;
    return { table: await open(location), proxy };
  };

  test('a connection cut in the middle of a read, wherever: every row comes once', async () => {
    const { table, proxy } = await behindProxy();
    for (const bytes of [1, 1000, 20_001, 77_777, 150_000, 300_003]) {
      const before = proxy.connections;
      proxy.cutAfter(bytes);
      expect(await all(table.readKeys({ prefix: '' })), `cut after ${bytes} bytes`).toEqual(numbered(COUNT));
      expect(proxy.connections).toBeGreaterThan(before);
    }
    expect(table.stats().openReads).toBe(0);
  });

  test('a server that stays away: the read rejects and is closed', async () => {
    const { table, proxy } = await behindProxy();
    proxy.cutAfter(50_000, true);
    let rows = 0;
    const read = async () => {
      for await (const batch of table.readRows({ prefix: '' })) rows += batch.length;
    };
    await rejects(read(), 'ERR_SPANLINE_STORE_UNAVAILABLE', /emulator listens on 127/);
    expect(rows).toBeLessThan(COUNT);
    expect(table.stats().openReads).toBe(0);
    await rejects(table.mutateRows(plainRows(['a'])), 'ERR_SPANLINE_STORE_UNAVAILABLE');
    await rejects(table.incrementCell('a', 'V', 'n', 1), 'ERR_SPANLINE_STORE_UNAVAILABLE');
  });

  test('a connection cut in the middle of a write: what is acknowledged is there', async () => {
    const { table, proxy } = await behindProxy();
    proxy.cutAfter(2000);
    const keys = numbered(5000).map((key) => `new-${key}`);
    await table.mutateRows(plainRows(keys));
    expect(await all(table.readKeys({ prefix: 'new-' }))).toEqual(keys);
  });

  test('no server at all: opening says where it looked', async () => {
    process.env.BIGTABLE_EMULATOR_HOST = '127.0.0.1:1';
    await rejects(open(), 'ERR_SPANLINE_STORE_UNAVAILABLE', /127\.0\.0\.1:1 \(BIGTABLE_EMULATOR_HOST\)/);
  });

  test('many openers at once make one table with the families of all', async () => {
    const location = emulator.location();
    const families = ['V', 'A', 'B', 'C', 'D', 'E'];
    const tables = await Promise.all(
      families.map((family) => open(location, ['V', family].slice(family === 'V' ? 1 : 0))),
    );
    await Promise.all(tables.map((table, i) => table.mutateRows([row('r', set('c', 'v', 1, families[i]))])));
    expect(await lines(await open(location))).toEqual(['r A:c=v@1 B:c=v@1 C:c=v@1 D:c=v@1 E:c=v@1 V:c=v@1']);
  });

  test('a family or table taken away behind our back: the rows it concerns are named', async () => {
    const location = emulator.location();
    const table = await open(location);
    const parts = parseBigtableLocation(location);
    const name = tableName(parts);
    const { data, admin } = await connect(parts);
    closing.push(() => Promise.all([data.close(), admin.close()]));
    await admin.modifyColumnFamilies({ name, modifications: [{ id: 'S', drop: true }] });

    const rows = [row('a', set('c', 'v')), row('b', set('c', 'v', 1, 'S')), row('c', set('c', 'v'))];
    const error = await table.mutateRows(rows).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PartialFailureError);
    expect((error as PartialFailureError).failures.map(({ key }) => key)).toEqual(['b']);
    expect(await lines(table)).toEqual(['a V:c=v@1', 'c V:c=v@1']);
    expect(table.stats()).toMatchObject({ rowsWritten: 2, rowsRefused: 1 });

    await admin.deleteTable({ name });
    await rejects(lines(table), 'ERR_SPANLINE_NOT_FOUND', /open it again/);
    await rejects(table.mutateRows(rows), 'ERR_SPANLINE_NOT_FOUND');
    await rejects(
      table.checkAndMutateRow('a', { family: 'V', qualifier: 'c' }, { otherwise: [set('c', 'v')] }),
      'ERR_SPANLINE_NOT_FOUND',
    );
    await rejects(table.sampleRowKeys(), 'ERR_SPANLINE_NOT_FOUND');
  });

  const program = findEmulator();
  test.skipIf(program === undefined)('an emulator that dies in the middle of a read: the read rejects', async () => {
    const own = await startEmulator(program as string);
    closing.push(() => own.stop());
    process.env.BIGTABLE_EMULATOR_HOST = own.host;
    const table = await open();
    await table.mutateRows(plainRows(numbered(COUNT)));
    const batches = table.readRows({ prefix: '' });
    await batches.next();
    await own.stop();
    await rejects(all(batches), 'ERR_SPANLINE_STORE_UNAVAILABLE');
    expect(table.stats().openReads).toBe(0);
  });
});
