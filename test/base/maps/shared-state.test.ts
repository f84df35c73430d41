// What copies of a package share is completed field by field, whoever made it, and never replaced.
import { afterEach, expect, test } from 'vitest';
import { sharedState } from '../../../src/base/maps/shared-state.js';

const NAME = 'spanline.test.shared-state';
const holder = globalThis as { [key: symbol]: unknown };

interface State {
  readonly none: object;
  current: object;
  readonly counts: number[];
}

const create = ({ none = {} }: Partial<State>): State => ({ none, current: none, counts: [0, 0] });

afterEach(() => {
  Reflect.deleteProperty(globalThis, Symbol.for(NAME));
});

test('the first copy makes all fields, the next one has the same object', () => {
  const state = sharedState(NAME, create);
  expect(Object.keys(state)).toEqual(['none', 'current', 'counts']);
  expect(sharedState(NAME, create)).toBe(state);
  expect(holder[Symbol.for(NAME)]).toBe(state);
});

test('what another version has made gets the fields that it lacks, and keeps its own', () => {
  const none = { of: 'another version' };
  const counts = [5];
  const found = { none, counts, later: true };
  holder[Symbol.for(NAME)] = found;
  const state = sharedState(NAME, create);
  expect(state).toBe(found);
  expect(found).toEqual({ none, current: none, counts: [5], later: true });
  expect(state.current).toBe(none);
  expect(state.counts).toBe(counts);
});

test('a field that is there and undefined stays', () => {
  holder[Symbol.for(NAME)] = { pool: undefined };
  expect(sharedState<{ pool?: string }>(NAME, () => ({ pool: 'made' })).pool).toBeUndefined();
});
