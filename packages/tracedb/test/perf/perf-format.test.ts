// The form in which a Perf store is kept does not change: keys, columns and values, byte for byte.
import { expect, test } from 'vitest';
import { OrderedParamSet } from '../../src/params/ordered-param-set.js';
import { ParamSet } from '../../src/params/param-set.js';
import { PERF_SCHEMA, PerfStore } from '../../src/perf/perf-store.js';
import { onBothEngines } from '../support/on-both-engines.js';
import { dump } from './support/dump.js';

onBothEngines('a Perf table', (engine) => {
  test('has these rows', async () => {
    const table = await engine.table(PERF_SCHEMA);
    const perf = await PerfStore.open(table);
    const [first, second] = await perf.commits.add([
      { hash: 'aaaa', timestampMs: 1_700_000_000_000 },
      { hash: 'bbbb' },
    ]);
    expect([first, second]).toEqual([0, 1]);
    const x86 = { config: '8888', arch: 'x86' };
    await perf.write([
      { commit: 44, source: 'run-1.json', timestampMs: 1000, points: [{ params: x86, value: 1.5 }] },
      {
        commit: 45,
        source: 'run-2.json',
        timestampMs: 2000,
        points: [
          { params: x86, value: -2.25 },
          { params: { arch: 'x86', config: '565' }, value: 0.1 },
        ],
      },
    ]);
    await perf.writeTraces(256, [{ params: { arch: 'arm' }, value: 3 }], { source: 'run-2.json', timestampMs: 3000 });

    const old = OrderedParamSet.empty.with(ParamSet.from({ arch: ['x86'], config: ['565', '8888'] }));
    const newest = OrderedParamSet.empty.with(ParamSet.from({ arch: ['arm'] }));
    const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`;
    expect(await dump(table)).toEqual([
      '!perf C:J {"version":1,"tileSize":256,"shards":8}',
      '!perf C:L [{"hash":"aaaa","number":0,"timestampMs":1700000000000},{"hash":"bbbb","number":1}]',
      '!perf C:N 2',
      '&4538e4e7d10ddce34228f1193e08c9d6 H:S run-2.json',
      '&c92ac49cbf51b8c1dba09c094e4a7d6f H:S run-1.json',
      // The shard of a trace is the CRC-32 of its id, modulo 8.
      '0:2147483647:,0=0,1=1, S:44 0xc92ac49cbf51b8c1dba09c094e4a7d6f',
      '0:2147483647:,0=0,1=1, S:45 0x4538e4e7d10ddce34228f1193e08c9d6',
      '0:2147483647:,0=0,1=1, V:44 0x0000c03f',
      '0:2147483647:,0=0,1=1, V:45 0x000010c0',
      '1:2147483647:,0=0,1=0, S:45 0x4538e4e7d10ddce34228f1193e08c9d6',
      '1:2147483647:,0=0,1=0, V:45 0xcdcccc3d',
      '2:2147483646:,0=0, S:0 0x4538e4e7d10ddce34228f1193e08c9d6',
      '2:2147483646:,0=0, V:0 0x00004040',
      `@2147483646 D:H ${newest.hash}`,
      `@2147483646 D:OPS ${hex(newest.serialise())}`,
      `@2147483647 D:H ${old.hash}`,
      `@2147483647 D:OPS ${hex(old.serialise())}`,
      'c0000000000 C:J {"hash":"aaaa","number":0,"timestampMs":1700000000000}',
      'c0000000001 C:J {"hash":"bbbb","number":1}',
      'haaaa C:J {"hash":"aaaa","number":0,"timestampMs":1700000000000}',
      'hbbbb C:J {"hash":"bbbb","number":1}',
      'j2147483646:0:0:,0=0, I:E',
      'j2147483647:0:0:,0=0,1=0, I:E',
      'j2147483647:0:0:,0=0,1=1, I:E',
      'j2147483647:1:0:,0=0,1=0, I:E',
      'j2147483647:1:1:,0=0,1=1, I:E',
    ]);
    // Cells have the time of the measurement.
    const row = await table.readRow('0:2147483647:,0=0,1=1,');
    expect(row?.cells.map(({ qualifier, timestampMs }) => `${qualifier} ${timestampMs}`).sort()).toEqual([
      '44 1000',
      '44 1000',
      '45 2000',
      '45 2000',
    ]);
  });

  test('says what it was made with, and is opened with nothing else', async () => {
    const table = await engine.table(PERF_SCHEMA);
    const perf = await PerfStore.open(table, { tileSize: 50, shards: 3 });
    await perf.writeTraces(123, [{ params: { a: 'b' }, value: 1 }], { source: 's', timestampMs: 1 });
    expect((await dump(table)).filter((line) => /^\d:|^!/.test(line))).toEqual([
      '!perf C:J {"version":1,"tileSize":50,"shards":3}',
      expect.stringMatching(/^[0-2]:2147483645:,0=0, S:23 /),
      expect.stringMatching(/^[0-2]:2147483645:,0=0, V:23 /),
    ]);
    expect((await PerfStore.open(table)).config).toEqual({ tileSize: 50, shards: 3 });
    await expect(PerfStore.open(table, { tileSize: 256 })).rejects.toMatchObject({
      code: 'ERR_SPANLINE_INVALID_INPUT',
      message: expect.stringContaining('was made with tileSize 50, not 256'),
    });
    await expect(PerfStore.open(table, { shards: 8 })).rejects.toMatchObject({ code: 'ERR_SPANLINE_INVALID_INPUT' });
    await expect(PerfStore.open(await engine.table(PERF_SCHEMA), { tileSize: 0 })).rejects.toMatchObject({
      code: 'ERR_SPANLINE_INVALID_INPUT',
    });
  });

  test('of another format, or of none, is not opened', async () => {
    const table = await engine.table(PERF_SCHEMA);
    const set = (text: string) =>
      table.mutateRows([
        {
          key: '!perf',
          mutations: [{ type: 'set', family: 'C', qualifier: 'J', value: Buffer.from(text), timestampMs: 1 }],
        },
      ]);
    for (const text of [
      '{"version":2,"tileSize":256,"shards":8}',
      '{"version":1,"tileSize":0,"shards":8}',
      'no json',
    ]) {
      await set(text);
      await expect(PerfStore.open(table)).rejects.toMatchObject({ code: 'ERR_SPANLINE_STORE_CORRUPT' });
    }
  });
});
