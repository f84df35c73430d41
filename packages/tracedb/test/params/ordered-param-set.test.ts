// Every trace of a tile has exactly one id, no two share one, and an id keeps its meaning while the set grows and is stored.

import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { OrderedParamSet } from '../../src/params/ordered-param-set.js';
import { ParamSet } from '../../src/params/param-set.js';
import type { Params } from '../../src/params/param-text.js';
import { anyParams } from './support/any-params.js';
import { refusal } from './support/refusal.js';

const grow = (ops: OrderedParamSet, traces: readonly Params[]): OrderedParamSet => ops.with(ops.missing(traces));
const opsOf = (...traces: Params[]): OrderedParamSet => grow(OrderedParamSet.empty, traces);
const sameParams = (params: Params): string => JSON.stringify(Object.entries(params).sort());

describe('ids', () => {
  const ops = grow(opsOf({ config: '8888', arch: 'x86' }), [
    { config: '565', arch: 'x86', os: 'linux' },
    { arch: 'arm' },
  ]);

  test('are places of keys and values, by ascending key', () => {
    expect(ops.keys).toEqual(['arch', 'config', 'os']);
    expect(ops.values('arch')).toEqual(['x86', 'arm']);
    expect(ops.encode({ os: 'linux', config: '565', arch: 'arm' })).toBe(',0=1,1=1,2=0,');
    expect(ops.decode(',0=1,1=1,2=0,')).toEqual({ arch: 'arm', config: '565', os: 'linux' });
    expect([
      ops.keyIndex('os'),
      ops.keyIndex('gpu'),
      ops.valueIndex('arch', 'arm'),
      ops.valueIndex('arch', '565'),
    ]).toEqual([2, -1, 1, -1]);
    expect(ops.values('gpu')).toEqual([]);
  });

  test.each<[string, Params, string]>([
    ['an unknown key', { gpu: 'x' }, 'param "gpu=x" is not in the ordered param set'],
    ['an unknown value beside known ones', { arch: 'x86', os: 'mac' }, 'param "os=mac"'],
    ['the name of an inherited member', { constructor: 'x' } as unknown as Params, 'param "constructor=x"'],
    ['no params', {}, 'a trace without params has no id'],
  ])('are not made of %s', (_, params, why) => {
    const refused = refusal(() => ops.encode(params));
    expect(refused).toMatch(/^ERR_SPANLINE_INVALID_INPUT: /);
    expect(refused).toContain(why);
  });

  test.each([
    ...[
      '',
      ',',
      ',,',
      '0=0',
      ',0=0',
      '0=0,',
      ',0=0,,',
      ',0=0,1=0',
      ',0=00,',
      ',00=0,',
      ',0=,',
      ',=0,',
      ',0=2,',
      ',3=0,',
    ],
    ...[
      ',1=0,0=0,',
      ',0=0,0=1,',
      ',-1=0,',
      ',0=-0,',
      ',0=0x0,',
      ',0=1e0,',
      ', 0=0,',
      ',0=0, ',
      ',0=0,\0',
      ',٠=0,',
      ',0=٠,',
    ],
    ...[`,0=${'9'.repeat(400)},`, `,${'0=0,'.repeat(1000)}`, ',0=0,1=0,2=', 'constructor', ',length=0,', ',NaN=0,'],
  ])('that encode cannot have made are refused: %j', (id) => {
    expect(refusal(() => ops.decode(id))).toMatch(/^ERR_SPANLINE_STORE_CORRUPT: trace id /);
  });

  test('are unique, decode to their params, and survive growth and storage', () => {
    fc.assert(
      fc.property(fc.array(anyParams, { minLength: 1 }), fc.array(anyParams), (early, late) => {
        const old = opsOf(...early);
        const ids = new Map(early.map((params) => [sameParams(params), old.encode(params)]));
        expect(new Set(ids.values()).size).toBe(ids.size);
        const grown = OrderedParamSet.parse(grow(old, late).serialise());
        for (const params of early) {
          const id = ids.get(sameParams(params)) ?? '';
          expect(grown.encode(params)).toBe(id);
          expect(sameParams(grown.decode(id))).toBe(sameParams(params));
          expect(sameParams(old.decode(id))).toBe(sameParams(params));
        }
        expect(grown.missing([...early, ...late]).size).toBe(0);
      }),
      { numRuns: samples(40, 100, 1000) },
    );
  });

  test('that decode are the ones encode makes', () => {
    const text = fc.string({ unit: fc.constantFrom(',', '=', '0', '1', '2', '3', ' ', '-'), maxLength: 16 });
    fc.assert(
      fc.property(text, (id) => {
        if (refusal(() => ops.decode(id)) === 'no error') expect(ops.encode(ops.decode(id))).toBe(id);
      }),
      { numRuns: samples(500, 2000) },
    );
    expect(ops.encode(ops.decode(',0=1,2=0,'))).toBe(',0=1,2=0,');
  });

  test('of a key named __proto__ decode to a param of that name', () => {
    const params: Params = JSON.parse('{"__proto__":"a","constructor":"b"}');
    const decoded = opsOf(params).decode(opsOf(params).encode(params));
    expect(JSON.stringify(decoded)).toBe('{"__proto__":"a","constructor":"b"}');
  });
});

describe('growth', () => {
  test('leaves the old set as it was', () => {
    const old = opsOf({ arch: 'x86' });
    const { hash } = old;
    const bytes = old.serialise();
    grow(old, [{ arch: 'arm', os: 'mac' }]);
    expect([old.hash, old.values('arch'), old.keys]).toEqual([hash, ['x86'], ['arch']]);
    expect(old.serialise()).toEqual(bytes);
    expect(() => (old.values('arch') as string[]).push('arm')).toThrow(TypeError);
  });

  test('by nothing new is the same set', () => {
    const old = opsOf({ arch: 'x86' });
    expect(old.with(ParamSet.from({ arch: ['x86'] }))).toBe(old);
  });

  test('does not depend on the order of the traces in it, and loses none', () => {
    fc.assert(
      fc.property(fc.array(anyParams), fc.array(anyParams), (early, late) => {
        const one = grow(opsOf(...early), late);
        const other = grow(opsOf(...early.toReversed()), late.toReversed());
        expect(other.serialise()).toEqual(one.serialise());
        expect(other.hash).toBe(one.hash);
        const all = new ParamSet();
        for (const params of [...early, ...late]) all.add(params);
        expect(JSON.stringify(one.toParamSet())).toBe(JSON.stringify(all));
      }),
      { numRuns: samples(40, 100, 1000) },
    );
  });

  test('beyond what a cell can hold is refused before it is stored', () => {
    const wide = new ParamSet();
    for (let i = 0; i < 11_000; i++) wide.addValue('name', `${i}-${'x'.repeat(1000)}`);
    expect(refusal(() => OrderedParamSet.empty.with(wide).serialise())).toMatch(
      /^ERR_SPANLINE_TABLE_LIMIT: an ordered param set of 1\d{7} bytes; the limit is 10485760/,
    );
  });
});
