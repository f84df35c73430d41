// A read that its caller gives up, or is slow with, costs the server no more than that: the stream is cancelled or waits.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { fakeTimers } from '../../../../../test/support/fake-timers.js';
import { all, rejects } from '../conformance/suite.js';
import { type Call, type Handler, inTurn, oneRow, rowsThen } from './support/fake-service.js';
import { fakeTable, until } from './support/fake-table.js';

const CANCEL = 8;

/** Rows without end, as fast as they are taken; `sent` counts their bytes. */
const endless = (value: string): { handler: Handler; sent(): number } => {
  let sent = 0;
  let row = 0;
  const pump = (call: Call): void => {
    while (!call.stream.destroyed) {
      sent += value.length;
      if (!call.send(oneRow(String(row++).padStart(9, '0'), value))) {
        call.stream.once('drain', () => pump(call));
        return;
      }
    }
  };
  return { handler: pump, sent: () => sent };
};

const cancelled = async (call: Call | undefined): Promise<void> => {
  await until(() => call?.stream.closed === true);
  expect(call?.stream.rstCode).toBe(CANCEL);
};

test('breaking off cancels the stream at the server', async () => {
  const { table, service } = await fakeTable({ ReadRows: endless('x'.repeat(1000)).handler });
  for await (const _ of table.readRows({ prefix: '' })) break;
  await cancelled(service.of('ReadRows')[0]);
});

test('of many keys the next ones are asked for while the caller uses what came, and no sooner than it needs them', async () => {
  const { table, service } = await fakeTable({
    ReadRows: (call) => rowsThen(call.request.rows.rowKeys.map(String))(call),
  });
  const keys = Array.from({ length: 2100 }, (_, i) => `k${String(i).padStart(4, '0')}`);
  const asked = (): number => service.of('ReadRows').length;
  const batches = table.readKeys({ keys });
  const found: string[] = [];
  const take = async (): Promise<void> => {
    const { value = [] } = await batches.next();
    found.push(...value);
  };
  await take();
  await sleep(50);
  expect(asked()).toBe(1);
  while (found.length < 1000 - 256) await take();
  await until(() => asked() === 2);
  while (found.length < 1500) await take();
  for await (const more of batches) found.push(...more);
  expect(found).toEqual(keys);
  expect(service.of('ReadRows').map(({ request }) => request.rows.rowKeys.length)).toEqual([1000, 1000, 100]);
  expect(table.stats()).toMatchObject({ openReads: 0, rowsRead: 2100 });
});

test('what came of one part is given while the next lets wait', async () => {
  const { table, service } = await fakeTable({
    ReadRows: inTurn(
      (call) => rowsThen(call.request.rows.rowKeys.slice(0, 3).map(String))(call),
      () => {},
    ),
  });
  const keys = Array.from({ length: 1100 }, (_, i) => `k${String(i).padStart(4, '0')}`);
  const batches = table.readKeys({ keys });
  expect((await batches.next()).value).toEqual(keys.slice(0, 3));
  await until(() => service.of('ReadRows').length === 2);
  await batches.return?.();
  await cancelled(service.of('ReadRows')[1]);
});

test('a signal cancels it even while nobody asks for a batch', async () => {
  const { table, service } = await fakeTable({ ReadRows: endless('x'.repeat(1000)).handler });
  const controller = new AbortController();
  const batches = table.readRows({ prefix: '' }, { signal: controller.signal });
  await batches.next();
  controller.abort();
  expect(table.stats().openReads).toBe(0);
  await cancelled(service.of('ReadRows')[0]);
  await rejects(batches.next(), 'ERR_SPANLINE_ABORTED');
});

test('a signal ends a wait for a server that says nothing, in every call', async () => {
  const silent: Handler = () => {};
  const methods = ['ReadRows', 'MutateRows', 'CheckAndMutateRow', 'ReadModifyWriteRow', 'SampleRowKeys'];
  const { table, service } = await fakeTable(Object.fromEntries(methods.map((method) => [method, silent])));
  const controller = new AbortController();
  const { signal } = controller;
  const set = { type: 'set', family: 'V', qualifier: 'c', value: Buffer.from('v'), timestampMs: 1 } as const;
  const calls = [
    all(table.readRows({ prefix: '' }, { signal })),
    table.mutateRows([{ key: 'a', mutations: [set] }], { signal }),
    table.checkAndMutateRow('a', { family: 'V', qualifier: 'c' }, { otherwise: [set] }, { signal }),
    table.incrementCell('a', 'V', 'n', 1, { signal }),
    table.sampleRowKeys({ signal }),
  ];
  const outcomes = Promise.all(calls.map((call) => rejects(call, 'ERR_SPANLINE_ABORTED')));
  await until(() => service.calls.length === 1 + methods.length);
  controller.abort();
  await outcomes;
  for (const method of ['ReadRows', 'MutateRows', 'SampleRowKeys']) await cancelled(service.of(method)[0]);
});

test('so does a deadline, which the server is told a little later one of', async () => {
  const { table, service } = await fakeTable({ ReadRows: () => {}, MutateRows: () => {} });
  // However long a call takes to the service, the deadline comes behind it.
  fakeTimers('setTimeout', 'clearTimeout');
  const read = rejects(all(table.readRows({ prefix: '' }, { deadlineMs: 50 })), 'ERR_SPANLINE_DEADLINE', /50 ms/);
  await until(() => service.of('ReadRows').length === 1);
  vi.advanceTimersByTime(50);
  await read;
  const [call] = service.of('ReadRows');
  await cancelled(call);
  expect(call?.headers['grpc-timeout']).toMatch(/^\d+m$/);
  expect(Number.parseInt(String(call?.headers['grpc-timeout']), 10)).toBeLessThanOrEqual(1050);
  const mutations = [{ type: 'delete-row' }] as const;
  const write = rejects(table.mutateRows([{ key: 'a', mutations }], { deadlineMs: 50 }), 'ERR_SPANLINE_DEADLINE');
  await until(() => service.of('MutateRows').length === 1);
  vi.advanceTimersByTime(50);
  await write;
});

test('closing the table cancels its reads', async () => {
  const { table, service } = await fakeTable({ ReadRows: endless('x'.repeat(1000)).handler });
  const batches = table.readRows({ prefix: '' });
  await batches.next();
  const hanging = table.readRows({ prefix: '' });
  const next = hanging.next();
  await next;
  await table.close();
  await rejects(batches.next(), 'ERR_SPANLINE_STORE_CLOSED');
  for (const call of service.of('ReadRows')) await cancelled(call);
});

test('a limit that is reached cancels the stream, also where rows are sorted out here', async () => {
  const { table, service } = await fakeTable({ ReadRows: endless('x').handler });
  const qualifiers = ['c', ...Array.from({ length: 3000 }, (_, i) => `qualifier-${i}`)];
  expect((await all(table.readKeys({ prefix: '' }, { qualifiers, limit: 7 }))).length).toBe(7);
  const [call] = service.of('ReadRows');
  await cancelled(call);
  expect(call?.request.rowsLimit ?? '0').toBe('0');
});

test('a read all of whose rows have come is over, however long its caller is about them', async () => {
  const names = Array.from({ length: 600 }, (_, i) => `k${1000 + i}`);
  const { table } = await fakeTable({ ReadRows: rowsThen(names) });
  fakeTimers('setTimeout', 'clearTimeout');
  for (const limit of [undefined, 590]) {
    const begin = table.stats().rowsRead;
    const count = limit ?? names.length;
    const read = table.readKeys({ prefix: '' }, { deadlineMs: 50, limit });
    const { value } = await read.next();
    await until(() => table.stats().rowsRead === begin + count && table.stats().openReads === 0);
    vi.advanceTimersByTime(50);
    if (limit !== undefined) await table.close();
    expect([...(value ?? []), ...(await all(read))]).toEqual(names.slice(0, count));
  }
});

test('of a list of keys in two requests, the first is not all', async () => {
  const names = Array.from({ length: 1500 }, (_, i) => `k${1000 + i}`);
  const { table, service } = await fakeTable({
    ReadRows: inTurn(rowsThen(names.slice(0, 1000)), rowsThen(names.slice(1000))),
  });
  fakeTimers('setTimeout', 'clearTimeout');
  expect(await all(table.readKeys({ keys: names }))).toEqual(names);
  expect(service.of('ReadRows').length).toBe(2);
  const late = table.readKeys({ keys: names }, { deadlineMs: 50 });
  service.handlers.ReadRows = rowsThen(names.slice(0, 10));
  await late.next();
  // Until the first request is over, though nobody asks.
  await until(() => service.of('ReadRows').at(-1)?.stream.closed === true);
  vi.advanceTimersByTime(50);
  await rejects(late.next(), 'ERR_SPANLINE_DEADLINE');
});

test('a caller that does not ask for more stops the server, and gets on when it asks again', async () => {
  const { handler, sent } = endless('x'.repeat(10_000));
  const { table } = await fakeTable({ ReadRows: handler });
  const batches = table.readRows({ prefix: '' });
  const first = await batches.next();
  // Until the server could send nothing for a while.
  let before = -1;
  while (before !== sent()) {
    before = sent();
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  expect(sent()).toBeLessThan(8 * 1024 * 1024);
  let rows = first.value?.length ?? 0;
  while (rows < 2000) {
    const { value } = await batches.next();
    for (const { key } of value ?? []) expect(Number(key)).toBe(rows++);
  }
  await batches.return?.();
});
