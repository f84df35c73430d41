// Params and queries of all kinds, for properties. They must come from few keys and values, so that traces resemble each other
// and queries find some of them; names of object members, separators and signs of the query language are among them.

import fc from '../../../../../test/support/fast-check.js';
import type { Params } from '../../../src/params/param-text.js';
import type { QueryPart } from '../../../src/query/query.js';

const SPECIAL = [
  '__proto__',
  'constructor',
  'toString',
  'a b',
  ',',
  '=',
  '%',
  '*',
  '~',
  '!',
  '\0',
  '\ufeff',
  'é',
  '😀',
  '0',
];

export const anyKey = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('arch', 'config', 'os', 'name') },
  { weight: 2, arbitrary: fc.constantFrom(...SPECIAL) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }) },
);

export const anyValue = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('x86', 'arm', 'arm64', '8888', '565') },
  { weight: 2, arbitrary: fc.constantFrom('', '!x86', '~a', '==', ...SPECIAL) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
);

export const anyParams: fc.Arbitrary<Params> = fc
  .array(fc.tuple(anyKey, anyValue), { minLength: 1, maxLength: 6 })
  .map((entries) => Object.fromEntries(entries));

const anyPattern = fc.constantFrom(
  'a',
  '^a',
  '6$',
  '^arm$',
  '^$',
  '[0-9]+',
  'x|5',
  '(?i)ARM',
  'no such value',
  '.',
  'é|😀',
);

const anyPart: fc.Arbitrary<QueryPart> = fc.oneof(
  fc.record({ key: anyKey, kind: fc.constant('has-key' as const), values: fc.constant([]) }),
  fc.record({
    key: anyKey,
    kind: fc.constantFrom('one-of' as const, 'not-one-of' as const),
    values: fc.array(anyValue, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    key: anyKey,
    kind: fc.constantFrom('matches' as const, 'not-matches' as const),
    values: fc.array(anyPattern, { minLength: 1, maxLength: 2 }),
  }),
);

/** Parts of a query, each key once. */
export const anyParts = fc.uniqueArray(anyPart, { maxLength: 3, selector: (part) => part.key });
