// What an id tells about a condition is what the ordered param set says: for any set, any trace and any values.

import { expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { OrderedParamSet } from '../../src/params/ordered-param-set.js';
import { ParamSet } from '../../src/params/param-set.js';
import { idFilter } from '../../src/query/run-query.js';

const anyKey = fc.integer({ min: 0, max: 14 }).map((n) => `k${n}`);
const anyValue = fc.integer({ min: 0, max: 120 }).map((n) => `v${n}`);
const anyParams = fc.dictionary(anyKey, anyValue, { minKeys: 1, maxKeys: 12 });

test('agrees with the params of the trace', () => {
  fc.assert(
    fc.property(
      fc.array(anyParams, { minLength: 1, maxLength: 20 }),
      anyKey,
      fc.uniqueArray(anyValue, { minLength: 1, maxLength: 6 }),
      (traces, key, values) => {
        const params = new ParamSet();
        for (const trace of traces) params.add(trace);
        const ops = OrderedParamSet.empty.with(params);
        const keyIndex = ops.keyIndex(key);
        const known = values.filter((value) => ops.valueIndex(key, value) >= 0);
        if (keyIndex < 0 || known.length === 0) return;
        const test = idFilter(keyIndex, new Set(known.map((value) => ops.valueIndex(key, value))));
        for (const trace of traces) {
          expect([trace, test(ops.encode(trace))]).toEqual([trace, known.includes(trace[key] as string)]);
        }
      },
    ),
    { numRuns: samples(100, 500) },
  );
});

test.each([
  // Places of which one is the beginning or the end of another.
  [',1=2,', 1, [2], true],
  [',1=23,', 1, [2], false],
  [',1=2,', 1, [23], false],
  [',11=2,', 1, [2], false],
  [',21=2,', 1, [2], false],
  [',0=1,1=20,2=2,', 1, [2], false],
  [',0=1,1=20,2=2,', 1, [2, 20], true],
  [',0=1,1=20,2=2,', 2, [1, 3], false],
  [',0=0,', 0, [0, 1], true],
  [',10=0,', 0, [0, 1], false],
])('%s with key %i and values %j: %s', (id, keyIndex, values, expected) => {
  expect(idFilter(keyIndex, new Set(values))(id)).toBe(expected);
});

test('ends on what is not an id', () => {
  for (const id of ['', ',', ',0=', ',0=1', '0=1', ',0=x,']) {
    for (const values of [[1], [1, 2]]) idFilter(0, new Set(values))(id);
  }
});
