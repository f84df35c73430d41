// The table of a profile is bounded: what was sampled is kept, what runs comes again, and nothing is taken for something else.
import { afterEach, expect, test } from 'vitest';
import { DynamicLabel } from '../../src/profile/index.js';
import { LabelTable } from '../../src/profile/label-table.js';
import { scopeOf } from '../../src/profile/scope.js';
import { NO_SCOPE, register, type Scope } from '../../src/profile/shared-state.js';

const scopes = (n: number): Scope[] => Array.from({ length: n }, (_, i) => scopeOf(new DynamicLabel('i', i)));

afterEach(() => {
  register.current = NO_SCOPE;
});

test('what no note named is forgotten when the table is full; the rest is asked to come again', () => {
  const [around, noted, other, late] = scopes(4);
  const table = new LabelTable(() => new Set([noted.id]), 3);
  register.current = around;
  const { epoch } = register;
  for (const scope of [around, noted, other, late]) table.add(scope);
  expect([around, noted, other, late].map((scope) => table.find(scope.id))).toEqual([around, noted, 'lost', late]);
  expect(register.epoch).toBeGreaterThan(epoch);
  expect(table.find(NO_SCOPE.id)).toBe(NO_SCOPE);
});

test('when all were noted there is no room, and what may have had none is overflow', () => {
  const all = scopes(4);
  const table = new LabelTable(() => new Set(all.map(({ id }) => id)), 3);
  for (const scope of all) table.add(scope);
  expect(all.map((scope) => table.find(scope.id))).toEqual([...all.slice(0, 3), 'overflow']);
});

test('a label that was forgotten is known again at its next call', () => {
  const table = new LabelTable(() => new Set(), 2);
  register.enroll = (scope) => table.add(scope);
  const label = new DynamicLabel('query', 'q1');
  const found = (): unknown => label.apply(() => table.find(register.cell[0]));
  expect(found()).toMatchObject({ label });
  for (let i = 0; i < 10; i++) new DynamicLabel('i', i).apply(() => undefined);
  expect(found()).toMatchObject({ label });
  register.enroll = undefined;
});
