// A serialised set has one form, which stays readable by later releases; any other bytes are refused with a clear error.
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { OrderedParamSet } from '../../src/params/ordered-param-set.js';
import { ParamSet } from '../../src/params/param-set.js';
import { anyParams } from './support/any-params.js';
import { refusal } from './support/refusal.js';

const opsOf = (record: Record<string, string[]>): OrderedParamSet => OrderedParamSet.empty.with(ParamSet.from(record));
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('the form', () => {
  test('of version 1 stays what it is', () => {
    const bytes = opsOf({ os: ['é'], arch: ['x', 'arm'] }).serialise();
    expect(hex(bytes)).toBe('01' + '02' + '0461726368' + '02' + '0361726d' + '0178' + '026f73' + '01' + '02c3a9');
    expect(hex(OrderedParamSet.empty.serialise())).toBe('0100');
    expect(OrderedParamSet.empty.hash).toBe(
      createHash('md5')
        .update(Buffer.from([1, 0]))
        .digest('hex'),
    );
  });

  test('comes back byte for byte, with the same hash', () => {
    fc.assert(
      fc.property(fc.array(anyParams), (traces) => {
        const ops = OrderedParamSet.empty.with(OrderedParamSet.empty.missing(traces));
        const parsed = OrderedParamSet.parse(ops.serialise());
        expect(parsed.keys).toEqual(ops.keys);
        for (const key of ops.keys) expect(parsed.values(key)).toEqual(ops.values(key));
        expect(parsed.serialise()).toEqual(ops.serialise());
        expect(parsed.hash).toBe(ops.hash);
        expect(parsed.hash).toMatch(/^[0-9a-f]{32}$/);
      }),
    );
  });

  test('is read from the middle of a larger buffer', () => {
    const bytes = opsOf({ os: ['mac'] }).serialise();
    const larger = new Uint8Array(bytes.length + 9).fill(0xff);
    larger.set(bytes, 4);
    expect(OrderedParamSet.parse(larger.subarray(4, 4 + bytes.length)).values('os')).toEqual(['mac']);
  });
});

describe('refused', () => {
  test.each([
    ['nothing', '', 'ends too early'],
    ['a later version', '0200', 'version 2, and this release reads version 1'],
    ['bytes behind the end', '010000', 'has 1 bytes too many'],
    ['a count beyond the end', '01ffffff7f', 'counts 268435455 entries where 0 bytes are left'],
    ['a number in a longer form', '018000', 'not in its shortest form'],
    ['a number without end', '018080808080', 'ends in the middle of a number'],
    ['an empty key', '010100010161', 'an empty key'],
    ['a key without values', '010101610000', 'a key without values'],
    ['a key twice', '0102' + '01610100' + '01610100', 'a key occurs twice'],
    ['a value twice', '0101' + '016102' + '0000', 'a value of "a" occurs twice'],
    ['text that is not UTF-8', '0101' + '01ff0100', 'the text at byte 3 is not UTF-8'],
    ['a surrogate in UTF-8', '0101' + '016101' + '03eda080', 'is not UTF-8'],
    ['the middle cut off', '0101' + '016102' + '00', 'counts 2 entries where 1 bytes are left'],
  ])('%s', (_, text, why) => {
    const refused = refusal(() => OrderedParamSet.parse(Buffer.from(text, 'hex')));
    expect(refused).toMatch(/^ERR_SPANLINE_STORE_CORRUPT: /);
    expect(refused).toContain(why);
  });

  test('more than a cell holds', () => {
    expect(refusal(() => OrderedParamSet.parse(new Uint8Array(10 * 1024 * 1024 + 1)))).toContain('10485761 bytes');
  });

  test('mutated sets: each is a TraceDbError, or a set in its one form', () => {
    const bytes = opsOf({ arch: ['x86', 'arm'], config: ['8888', '565', 'é😀'], __proto__x: ['\ufeff'] }).serialise();
    const mutation = fc.array(
      fc.record({
        kind: fc.constantFrom('set', 'cut', 'insert', 'repeat'),
        at: fc.nat(bytes.length - 1),
        byte: fc.nat(255),
      }),
      { minLength: 1, maxLength: 4 },
    );
    let read = 0;
    fc.assert(
      fc.property(mutation, (mutations) => {
        let mutated = [...bytes];
        for (const { kind, at, byte } of mutations) {
          if (kind === 'set') mutated[at % mutated.length] = byte;
          else if (kind === 'cut') mutated.splice(at, 1 + (byte % 4));
          else if (kind === 'insert') mutated.splice(at, 0, byte);
          else mutated = mutated.concat(mutated.slice(at));
        }
        const input = Uint8Array.from(mutated);
        if (refusal(() => OrderedParamSet.parse(input)) !== 'no error') return;
        read++;
        expect(hex(OrderedParamSet.parse(input).serialise())).toBe(hex(input));
      }),
      { numRuns: samples(1000, 10_000) },
    );
    // Changes inside a text give another set; without some of them the test would prove less.
    expect(read).toBeGreaterThan(samples(10, 100));
  });

  test('random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), (bytes) => {
        refusal(() => OrderedParamSet.parse(bytes));
        bytes.set([1], 0);
        refusal(() => OrderedParamSet.parse(bytes));
      }),
      { numRuns: samples(500, 2000) },
    );
  });
});
