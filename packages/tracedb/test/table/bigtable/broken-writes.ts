// Every row that is not known to be written is reported by name; what may not happen twice is sent once.
import { expect, test } from 'vitest';
import type { Mutation, RowMutation } from '../../../src/table/wide-column-table.js';
import { PartialFailureError, type TraceDbError } from '../../../src/tracedb-error.js';
import { numbered, rejects } from '../conformance/suite.js';
import { type Handler, inTurn } from './support/fake-service.js';
import { fakeTable } from './support/fake-table.js';

const UNAVAILABLE = 14;
const set: Mutation = { type: 'set', family: 'V', qualifier: 'c', value: Buffer.from('v'), timestampMs: 1 };
const rowsOf = (keys: readonly string[]): RowMutation[] => keys.map((key) => ({ key, mutations: [set] }));

/** Answers with the status that `statusOf` gives each key, undefined for no answer at all. */
const answering =
  (statusOf: (key: string) => number | undefined, end = 0): Handler =>
  (call) => {
    const entries = call.request.entries.flatMap(({ rowKey }: { rowKey: Buffer }, index: number) => {
      const code = statusOf(rowKey.toString());
      return code === undefined ? [] : [{ index, status: { code, message: `status ${code}` } }];
    });
    call.send({ entries });
    call.end(end, 'the test says so');
  };
const fine = answering(() => 0);

const keysOf = (call: { request: { entries: { rowKey: Buffer }[] } }): string[] =>
  call.request.entries.map(({ rowKey }) => rowKey.toString());

const failureOf = async (write: Promise<void>): Promise<PartialFailureError> => {
  const error = await write.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PartialFailureError);
  return error as PartialFailureError;
};

test('rows the store refuses are named, with why; the others are written', async () => {
  const { table } = await fakeTable({ MutateRows: answering((key) => ({ b: 3, d: 5 })[key] ?? 0) });
  const error = await failureOf(table.mutateRows(rowsOf(['a', 'b', 'c', 'd'])));
  expect(error.code).toBe('ERR_SPANLINE_PARTIAL_FAILURE');
  expect(error.message).toMatch(/2 of 4 rows.*"b".*status 3/);
  expect(error.failures.map(({ key, error: cause }) => [key, (cause as TraceDbError).code])).toEqual([
    ['b', 'ERR_SPANLINE_INVALID_INPUT'],
    ['d', 'ERR_SPANLINE_NOT_FOUND'],
  ]);
  expect(table.stats()).toMatchObject({ writes: 1, rowsWritten: 2, rowsRefused: 2 });
});

test('refusals that pass are tried again, for those rows alone', async () => {
  const { table, service } = await fakeTable({
    MutateRows: inTurn(
      answering((key) => (key < 'c' ? UNAVAILABLE : 0)),
      answering((key) => (key === 'a' ? 10 : 0)),
      fine,
    ),
  });
  await table.mutateRows(rowsOf(['a', 'b', 'c', 'd']));
  expect(service.of('MutateRows').map(keysOf)).toEqual([['a', 'b', 'c', 'd'], ['a', 'b'], ['a']]);
  expect(table.stats()).toMatchObject({ writes: 1, rowsWritten: 4, rowsRefused: 0 });
});

test('rows without an answer are tried again, and reported when none ever comes', async () => {
  const some = answering((key) => (key === 'b' ? undefined : 0));
  const { table, service } = await fakeTable({ MutateRows: some });
  const error = await failureOf(table.mutateRows(rowsOf(['a', 'b', 'c'])));
  expect(error.failures.map(({ key }) => key)).toEqual(['b']);
  expect(error.failures[0]?.error.message).toMatch(/before this row/);
  expect(service.of('MutateRows').length).toBe(5);
});

test('a stream that breaks after some answers loses nothing', async () => {
  const { table, service } = await fakeTable({
    MutateRows: inTurn(
      answering((key) => (key === 'a' ? 0 : undefined), UNAVAILABLE),
      fine,
    ),
  });
  await table.mutateRows(rowsOf(['a', 'b']));
  expect(service.of('MutateRows').map(keysOf)).toEqual([['a', 'b'], ['b']]);
});

test('a store that takes nothing is one plain error', async () => {
  for (const [status, tries] of [
    [7, 1],
    [UNAVAILABLE, 5],
  ] as const) {
    const { table, service } = await fakeTable({ MutateRows: (call) => call.end(status, 'the test says so') });
    await rejects(table.mutateRows(rowsOf(numbered(2500))), 'ERR_SPANLINE_STORE_UNAVAILABLE', /the test says so/);
    expect(service.of('MutateRows').length).toBe(tries);
    expect(table.stats()).toMatchObject({ writes: 0, rowsWritten: 0 });
  }
});

test('a store that stops taking in the middle: the rest is named', async () => {
  const { table } = await fakeTable({ MutateRows: inTurn(fine, (call) => call.end(7, 'the test says so')) });
  const error = await failureOf(table.mutateRows(rowsOf(numbered(2500))));
  expect(error.failures.map(({ key }) => key)).toEqual(numbered(2500).slice(1000));
  expect(table.stats()).toMatchObject({ rowsWritten: 1000, rowsRefused: 1500 });
});

test('requests are of 1,000 rows, one after the other, and of at most some megabytes', async () => {
  let open = 0;
  const { table, service } = await fakeTable({
    MutateRows: (call) => {
      expect(++open).toBe(1);
      setImmediate(() => {
        open--;
        fine(call);
      });
    },
  });
  await table.mutateRows(rowsOf(numbered(2500)));
  expect(service.of('MutateRows').map((call) => keysOf(call).length)).toEqual([1000, 1000, 500]);
  const big = { ...set, value: Buffer.alloc(6 * 1024 * 1024) };
  await table.mutateRows(numbered(5).map((key) => ({ key, mutations: [big] })));
  expect(
    service
      .of('MutateRows')
      .slice(3)
      .map((call) => keysOf(call).length),
  ).toEqual([2, 2, 1]);
});

test('conditional writes and increments are sent once, however they fail', async () => {
  const broken: Handler = (call) => call.end(UNAVAILABLE, 'the test says so');
  const { table, service } = await fakeTable({ CheckAndMutateRow: broken, ReadModifyWriteRow: broken });
  const predicate = { family: 'V', qualifier: 'c' };
  const unavailable = 'ERR_SPANLINE_STORE_UNAVAILABLE';
  await rejects(table.checkAndMutateRow('a', predicate, { otherwise: [set] }), unavailable, /the test says so/);
  await rejects(table.incrementCell('a', 'V', 'n', 1), unavailable, /the test says so/);
  expect(service.calls.map(({ method }) => method)).toEqual(['GetTable', 'CheckAndMutateRow', 'ReadModifyWriteRow']);
  expect(table.stats()).toMatchObject({ writes: 0, rowsWritten: 0 });
});

test('closing waits for a write on its way', async () => {
  const { table } = await fakeTable({ MutateRows: (call) => setTimeout(() => fine(call), 50) });
  let isWritten = false;
  const write = table.mutateRows(rowsOf(['a'])).then(() => {
    isWritten = true;
  });
  await table.close();
  expect(isWritten).toBe(true);
  await write;
});
