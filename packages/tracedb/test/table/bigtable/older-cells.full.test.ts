// Why a condition begins with the latest cell: the server keeps older ones, and a writer that is two writes behind would find its own.
import { expect, test } from 'vitest';
import { describeBigtable } from '../../../../../test/support/bigtable-emulator.js';
import { connect, parseBigtableLocation, tableName } from '../../../src/table/bigtable/client.js';
import { predicateFilter } from '../../../src/table/bigtable/read-plan.js';
import { changeRowIf } from '../../../src/table/bigtable/row-calls.js';
import { CallGuard } from '../../../src/table/call-guard.js';
import { openTable } from '../../../src/table/open-table.js';
import { set } from '../conformance/suite.js';

describeBigtable('a writer that is two writes behind would be taken', (emulator) => {
  test('if the condition did not begin with the latest cell, for the server keeps older ones', async () => {
    const text = emulator.location();
    const table = await openTable(text, { families: ['D'] });
    const location = parseBigtableLocation(text);
    const { data: client, admin } = await connect(location);
    const guard = new CallGuard('writing');
    const task = { what: 'writing', client, table: tableName(location), guard, deadlineAt: Date.now() + 30_000 };
    const filter = predicateFilter({ family: 'D', qualifier: 'H', value: Buffer.from('A') });
    const [latest, ...rest] = filter.chain?.filters ?? [];
    expect(latest).toEqual({ cellsPerColumnLimitFilter: 1 });
    await table.mutateRows([{ key: '@', mutations: [set('H', 'A', 1, 'D')] }]);
    await table.mutateRows([{ key: '@', mutations: [set('H', 'B', 2, 'D')] }]);
    expect(await changeRowIf(task, '@', filter, [set('H', 'stale', 3, 'D')], [])).toBe(false);
    expect(await changeRowIf(task, '@', { chain: { filters: rest } }, [set('H', 'stale', 3, 'D')], [])).toBe(true);
    guard.dispose();
    await Promise.all([client.close(), admin.close(), table.close()]);
  });
});
