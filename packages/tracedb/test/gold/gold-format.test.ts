// The form in which a Gold store is kept does not change: keys, columns and values, byte for byte.
import { describe, expect, test } from 'vitest';
import { digestCell, GOLD_SCHEMA, idCell, idOfColumn, traceRowKey } from '../../src/gold/gold-keys.js';
import { GoldStore } from '../../src/gold/gold-store.js';
import { decodeVarint, encodeVarint } from '../../src/gold/values.js';
import { onBothEngines } from '../support/on-both-engines.js';

const where = () => 'the cell';

describe('varints', () => {
  test.each([
    [0, '00'],
    [1, '01'],
    [127, '7f'],
    [128, '8001'],
    [300, 'ac02'],
    [16_384, '808001'],
    [2 ** 31, '8080808008'],
    [2 ** 32 + 1, '8180808010'],
    [Number.MAX_SAFE_INTEGER, 'ffffffffffffff0f'],
  ])('%i is %s', (value, hex) => {
    expect(Buffer.from(encodeVarint(value)).toString('hex')).toBe(hex);
    expect(decodeVarint(Buffer.from(hex, 'hex'), where)).toBe(value);
  });

  test.each(['', '80', '8000', '0100', 'ffffffffffffff10', 'ffffffffffffffff0f', '808080808080808001'])(
    '%s is none',
    (hex) => {
      expect(() => decodeVarint(Buffer.from(hex, 'hex'), where)).toThrow(/the cell holds .* not a digest id/);
    },
  );
});

test('an id has its place among 256 in a row', () => {
  for (const id of [1, 255, 256, 257, 100_000, Number.MAX_SAFE_INTEGER]) {
    const { key, column } = idCell(id);
    expect(key.endsWith(`:ts:r:0000000000:${String(Math.floor(id / 256)).padStart(10, '0')}`)).toBe(true);
    expect(idOfColumn(id, column)).toBe(id);
  }
});

onBothEngines('a Gold table', (engine) => {
  test('has these rows', async () => {
    const table = await engine.table(GOLD_SCHEMA);
    const store = await GoldStore.open(table, { tileSize: 256 });
    const digest = '92eb5ffee6ae2fec3ad71c777531578f';
    await store.put(
      256 * 2 + 7,
      [{ params: { name: 'circle', os: 'mac' }, options: { b: '2', a: '1' }, digest, text: 'a circle' }],
      1000,
      { commitInfo: { hash: '868f75e4', timestampMs: 7 } },
    );
    await store.expectations.triage([{ test: 'circle', digest, status: 'positive' }], { by: 'ada', time: 5 });
    const rows: string[] = [];
    for await (const batch of table.readRows({ prefix: '' })) {
      for (const { key, cells } of batch) {
        for (const { family, qualifier, value } of cells) {
          const bytes = Buffer.from(value);
          const isText = /^[\x20-\x7f]+$/.test(bytes.toString('latin1'));
          rows.push(`${key} ${family}:${qualifier} ${isText ? bytes.toString() : bytes.toString('hex')}`);
        }
      }
    }
    const ops = rows.filter((row) => row.startsWith(':ts:o:'));
    expect(ops.map((row) => row.split(' ').slice(0, 2).join(' '))).toEqual([
      ':ts:o:2147483645: O:H',
      ':ts:o:2147483645: O:OPS',
    ]);
    expect(rows.filter((row) => !row.startsWith(':ts:o:'))).toEqual([
      '09:ts:p:2147483645:,0=0,1=0, P:B {"a":"1","b":"2"}',
      '09:ts:t:2147483645:,0=0,1=0, T:007 01',
      '11:ts:d:0000000000:92e D:b5ffee6ae2fec3ad71c777531578f 1',
      '22:ts:r:0000000000:0000000000 D:001 92eb5ffee6ae2fec3ad71c777531578f',
      '25:ts:e:0000000000:circle E:92eb5ffee6ae2fec3ad71c777531578f {"status":"positive","by":"ada","atMs":5,"revision":1}',
      '25:ts:e:0000000000:circle H:92eb5ffee6ae2fec3ad71c777531578f [{"from":"untriaged","to":"positive","by":"ada","atMs":5}]',
      '26:ts:x:0000000000:92eb5ffee6ae2fec3ad71c777531578f P:X a circle',
      ':ts:c:0000000000: I:digestDigits 32',
      ':ts:c:0000000000: I:tileSize 256',
      ':ts:i:0000000000: I:idc 0000000000000064',
      ':ts:m:0000000000:0000000519 P:C {"hash":"868f75e4","timestampMs":7}',
    ]);
    expect(digestCell(digest).key).toBe('11:ts:d:0000000000:92e');
    expect(traceRowKey(2, ',0=0,1=0,')).toBe('09:ts:t:2147483645:,0=0,1=0,');
  });
});
