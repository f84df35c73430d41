// What goes over the wire: the latest cell before every other filter, values cut off where only keys are wanted, where requests
// are routed.
import { expect, test } from 'vitest';
import { all } from '../conformance/suite.js';
import { oneRow } from './support/fake-service.js';
import { fakeTable } from './support/fake-table.js';

const LATEST = { cellsPerColumnLimitFilter: 1 };

const answered = () =>
  fakeTable({
    ReadRows: (call) => {
      call.send(oneRow('a'));
      call.end();
    },
    CheckAndMutateRow: (call) => {
      call.send({ predicateMatched: true });
      call.end();
    },
  });

test('every read keeps the latest cell only, before it filters anything else', async () => {
  const { table, service } = await answered();
  await all(table.readRows({ prefix: '' }));
  await all(table.readRows({ prefix: '' }, { families: ['V', 'S'], qualifiers: ['1', 'a.b'] }));
  await all(table.readKeys({ prefix: '' }));
  await all(table.readKeys({ prefix: '' }, { qualifiers: ['é'] }));
  expect(service.of('ReadRows').map(({ request }) => request.filter.chain?.filters ?? [request.filter])).toEqual([
    [LATEST],
    [LATEST, { familyNameRegexFilter: '(?:V|S)' }, { columnQualifierRegexFilter: Buffer.from('(?:1|a\\.b)') }],
    [LATEST, { cellsPerRowLimitFilter: 1 }, { stripValueTransformer: true }],
    [LATEST, { stripValueTransformer: true }],
  ]);
});

test('a predicate looks at the latest cell of one column, and compares bytes', async () => {
  const { table, service } = await answered();
  const value = Buffer.from([0, 10, 255]);
  const otherwise = [{ type: 'delete-row' }] as const;
  await table.checkAndMutateRow('a', { family: 'V', qualifier: 'c', value }, { otherwise });
  const { filters } = service.of('CheckAndMutateRow')[0]?.request.predicateFilter.chain ?? {};
  const column = Buffer.from('c');
  expect(filters).toEqual([
    LATEST,
    { columnRangeFilter: { familyName: 'V', startQualifierClosed: column, endQualifierClosed: column } },
    { valueRangeFilter: { startValueClosed: value, endValueClosed: value } },
  ]);
});

test('requests name the table for routing', async () => {
  const { table, service } = await answered();
  await table.readRow('a');
  const [call] = service.of('ReadRows');
  expect(call?.request.tableName).toBe('projects/test-project/instances/test-instance/tables/fake');
  expect(call?.headers['x-goog-request-params']).toContain('projects%2Ftest-project');
});
