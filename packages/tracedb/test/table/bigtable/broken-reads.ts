// A read that breaks in the middle goes on behind its last row or rejects; it never ends as if it were whole, whatever the server
// does.
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { fakeTimers } from '../../../../../test/support/fake-timers.js';
import type { DataClient } from '../../../src/table/bigtable/client.js';
import { planRead, readFilter } from '../../../src/table/bigtable/read-plan.js';
import { AnswerStream } from '../../../src/table/bigtable/read-stream.js';
import { RowReader } from '../../../src/table/bigtable/row-reader.js';
import type { TableCounters } from '../../../src/table/checked-table.js';
import { all, rejects } from '../conformance/suite.js';
import { type Handler, inTurn, oneRow, rowsThen } from './support/fake-service.js';
import { fakeTable } from './support/fake-table.js';

const CANCELLED = 1;
const UNAVAILABLE = 14;
const chunkOf = (key: string): object => (oneRow(key) as { chunks: [object] }).chunks[0];
const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();

test('a connection that breaks: the read asks for the rest, with what is left of its limit', async () => {
  const { table, service } = await fakeTable({
    ReadRows: inTurn(rowsThen(['a', 'b'], UNAVAILABLE), rowsThen([], UNAVAILABLE), rowsThen(['c', 'd'])),
  });
  const found = await all(table.readKeys({ start: 'a', end: 'x' }, { limit: 10 }));
  expect(found).toEqual(['a', 'b', 'c', 'd']);
  const asked = service
    .of('ReadRows')
    .map(({ request }) => [
      text(request.rows.rowRanges[0].startKeyClosed),
      text(request.rows.rowRanges[0].startKeyOpen),
      text(request.rows.rowRanges[0].endKeyOpen),
      request.rowsLimit,
    ]);
  expect(asked).toEqual([
    ['a', '', 'x', '10'],
    ['', 'b', 'x', '8'],
    ['', 'b', 'x', '8'],
  ]);
});

test('a list of keys: it asks for those that are left', async () => {
  const { table, service } = await fakeTable({
    ReadRows: inTurn(rowsThen(['a', 'b'], UNAVAILABLE), rowsThen(['d'])),
  });
  expect(await all(table.readKeys({ keys: ['d', 'c', 'b', 'a'] }))).toEqual(['a', 'b', 'd']);
  expect(service.of('ReadRows').map(({ request }) => request.rows.rowKeys.map(text))).toEqual([
    ['a', 'b', 'c', 'd'],
    ['c', 'd'],
  ]);
});

test('rows the server passed over are not asked for again', async () => {
  const { table, service } = await fakeTable({
    ReadRows: inTurn(
      (call) => {
        call.send(oneRow('a'));
        call.send({ lastScannedRowKey: Buffer.from('k') });
        call.end(UNAVAILABLE);
      },
      rowsThen(['z']),
    ),
  });
  expect(await all(table.readKeys({ prefix: '' }))).toEqual(['a', 'z']);
  expect(text(service.of('ReadRows')[1]?.request.rows.rowRanges[0].startKeyOpen)).toBe('k');
});

test('a break inside a row, or a stream that ends there as if all were well: the row is asked for again', async () => {
  for (const status of [0, UNAVAILABLE]) {
    const half: Handler = (call) => {
      call.send(oneRow('a'));
      call.send({ chunks: [{ ...chunkOf('b'), commitRow: undefined }] });
      call.end(status);
    };
    const { table } = await fakeTable({ ReadRows: inTurn(half, rowsThen(['b', 'c'])) });
    expect(await all(table.readKeys({ prefix: '' }))).toEqual(['a', 'b', 'c']);
  }
});

test('a server that never gets through: five tries, then an error', async () => {
  const { table, service } = await fakeTable({
    ReadRows: inTurn(rowsThen(['a'], UNAVAILABLE), rowsThen([], UNAVAILABLE)),
  });
  await rejects(all(table.readRows({ prefix: '' })), 'ERR_SPANLINE_STORE_UNAVAILABLE', /the test says so/);
  // The first brought a row, which starts the count again.
  expect(service.of('ReadRows').length).toBe(5);
  expect(table.stats()).toMatchObject({ openReads: 0, rowsRead: 1 });
});

test('a server that sends a row again is refused', async () => {
  const { table } = await fakeTable({ ReadRows: rowsThen(['a', 'b'], UNAVAILABLE) });
  await rejects(all(table.readRows({ prefix: '' })), 'ERR_SPANLINE_STORE_CORRUPT', /out of order, near row b/);
});

test('a server that breaks after every row gets through', async () => {
  const names = Array.from({ length: 8 }, (_, i) => `k${i}`);
  const { table } = await fakeTable({
    ReadRows: inTurn(...names.map((key) => rowsThen([key], UNAVAILABLE)), rowsThen([])),
  });
  expect(await all(table.readKeys({ prefix: '' }))).toEqual(names);
});

test('a server that cancels, or ends without a status, is not an end of the read', async () => {
  const endings: Handler[] = [
    (call) => call.end(CANCELLED),
    (call) => {
      call.stream.once('wantTrailers', () => call.stream.close());
      call.stream.end();
    },
    (call) => setImmediate(() => call.stream.session?.destroy()),
  ];
  for (const end of endings) {
    const withRow: Handler = (call) => {
      call.send(oneRow('a'));
      end(call);
    };
    const { table } = await fakeTable({ ReadRows: inTurn(withRow, end) });
    await rejects(all(table.readRows({ prefix: '' })), 'ERR_SPANLINE_STORE_UNAVAILABLE');
    expect(table.stats().openReads).toBe(0);
  }
});

test('a client that ends the stream without passing on that it was whole is not believed', async () => {
  for (const status of [undefined, { code: CANCELLED }]) {
    const stream = Object.assign(new PassThrough({ objectMode: true }), { cancel: () => {} });
    const client = { readRows: () => stream } as unknown as DataClient;
    const answers = await new Promise<AnswerStream>((resolve) => {
      const made: AnswerStream = new AnswerStream(
        client,
        {},
        1000,
        () => {},
        () => resolve(made),
      );
      if (status !== undefined) stream.emit('status', status);
      stream.end();
    });
    expect(answers.failure(false)).toMatchObject({ code: status?.code ?? UNAVAILABLE });
  }
});

test('after a row and a break in one turn the read waits before it asks again', async () => {
  const asked: PassThrough[] = [];
  const client = {
    readRows: () => {
      const stream = Object.assign(new PassThrough({ objectMode: true }), { cancel: () => {} });
      asked.push(stream);
      setImmediate(() => {
        stream.emit('data', { ...oneRow(`k${asked.length}`), lastScannedRowKey: Buffer.alloc(0) });
        stream.emit('error', Object.assign(new Error('broken'), { code: UNAVAILABLE }));
      });
      return stream;
    },
  } as unknown as DataClient;
  fakeTimers('setTimeout', 'clearTimeout');
  const reader = new RowReader<string>();
  const read = reader.read({
    client,
    table: 't',
    plan: planRead({ prefix: '' }),
    filter: readFilter({}, true),
    limit: Number.POSITIVE_INFINITY,
    deadlineAt: 0,
    counters: { rowsRead: 0, bytesRead: 0 } as TableCounters,
    span: undefined,
    withCells: true,
    item: String,
    check: () => {},
    whenWhole: () => {},
  });
  expect(await read.next()).toEqual({ done: false, value: ['k1'] });
  const next = read.next();
  for (let i = 0; i < 5; i++) await turn();
  expect(asked.length).toBe(1);
  vi.advanceTimersByTime(200);
  expect(await next).toEqual({ done: false, value: ['k2'] });
  reader.stop();
});

test('other refusals come through at once, by their kind', async () => {
  const codes: Record<number, string> = {
    3: 'ERR_SPANLINE_INVALID_INPUT',
    4: 'ERR_SPANLINE_DEADLINE',
    5: 'ERR_SPANLINE_NOT_FOUND',
    7: 'ERR_SPANLINE_STORE_UNAVAILABLE',
    8: 'ERR_SPANLINE_STORE_UNAVAILABLE',
    13: 'ERR_SPANLINE_STORE_UNAVAILABLE',
    16: 'ERR_SPANLINE_STORE_UNAVAILABLE',
  };
  for (const [status, code] of Object.entries(codes)) {
    const { table, service } = await fakeTable({ ReadRows: rowsThen(['a'], Number(status)) });
    await rejects(all(table.readRows({ prefix: '' })), code, /bigtable:\/\/test-project\/test-instance\/fake/);
    expect(service.of('ReadRows').length).toBe(1);
  }
});

test('an answer that is not in order is refused, and the server is told to stop', async () => {
  const wrong: object[][] = [
    [oneRow('b'), oneRow('a')],
    [oneRow('a'), oneRow('a')],
    [{ chunks: [{ ...chunkOf('a'), rowKey: Buffer.alloc(0) }] }],
    [{ chunks: [{ ...chunkOf('a'), commitRow: undefined }, chunkOf('b')] }],
    [{ chunks: [{ ...chunkOf('a'), qualifier: undefined, familyName: undefined }] }],
    [{ chunks: [{ ...chunkOf('a'), valueSize: 10 }] }],
  ];
  for (const answers of wrong) {
    const { table, service } = await fakeTable({
      ReadRows: (call) => {
        for (const answer of answers) call.send(answer);
      },
    });
    await rejects(all(table.readRows({ prefix: '' })), 'ERR_SPANLINE_STORE_CORRUPT', /broken/);
    const [call] = service.of('ReadRows');
    if (!call?.stream.closed) await new Promise((resolve) => call?.stream.once('close', resolve));
    expect(call?.stream.rstCode).toBe(8);
  }
});

test('values in pieces and rows that are taken back are put together', async () => {
  const { table } = await fakeTable({
    ReadRows: (call) => {
      const begin = { ...chunkOf('a'), commitRow: undefined };
      call.send({ chunks: [begin, { resetRow: true }] });
      call.send({ chunks: [{ ...begin, value: Buffer.from('12345678'), valueSize: 12 }] });
      call.send({ chunks: [{ value: Buffer.from('90'), valueSize: 12 }] });
      call.send({
        chunks: [
          { value: Buffer.from('ab') },
          { qualifier: { value: Buffer.from('d') }, timestampMicros: 2000, value: Buffer.from('second') },
          {
            familyName: { value: 'S' },
            qualifier: { value: Buffer.from('a') },
            timestampMicros: 3999,
            value: Buffer.from('third'),
            commitRow: true,
          },
        ],
      });
      call.end();
    },
  });
  const found = await table.readRow('a');
  expect(
    found?.cells.map(({ family, qualifier, value, timestampMs }) => [family, qualifier, text(value), timestampMs]),
  ).toEqual([
    ['S', 'a', 'third', 3],
    ['V', 'c', '1234567890ab', 1],
    ['V', 'd', 'second', 2],
  ]);
});
