// A location names project, instance and table, or the error says which of them is wrong.
import { expect, test } from 'vitest';
import { parseBigtableLocation } from '../../../src/table/bigtable/client.js';
import { openTable } from '../../../src/table/open-table.js';
import { rejects } from '../conformance/suite.js';

test('three parts', () => {
  expect(parseBigtableLocation('bigtable://my-project/perf-1/Traces_v2.new')).toEqual({
    text: 'bigtable://my-project/perf-1/Traces_v2.new',
    project: 'my-project',
    instance: 'perf-1',
    table: 'Traces_v2.new',
  });
  expect(parseBigtableLocation('bigtable://example.com:my-project/perf/t').project).toBe('example.com:my-project');
});

test('what is wrong is named', async () => {
  const wrong: Record<string, RegExp> = {
    'bigtable:': /three parts/,
    'bigtable://': /three parts/,
    'bigtable://project/instance': /three parts/,
    'bigtable://project/instance/table/more': /three parts/,
    'bigtable:///instance/table': /three parts/,
    'bigtable://Project/instance/table': /the project "Project"/,
    'bigtable://project/1instance/table': /the instance "1instance"/,
    'bigtable://project/instance/ta ble': /the table "ta ble"/,
    [`bigtable://project/instance/${'t'.repeat(51)}`]: /the table/,
  };
  for (const [location, message] of Object.entries(wrong)) {
    const opening = openTable(location, { families: ['V'] });
    await rejects(opening, 'ERR_SPANLINE_INVALID_INPUT', message);
    await rejects(
      openTable(location, { families: ['V'] }),
      'ERR_SPANLINE_INVALID_INPUT',
      /bigtable:\/\/project\/instance\/table/,
    );
  }
});
