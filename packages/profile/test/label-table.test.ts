// The table of a profile is bounded and holds what samples met; nothing is taken for something else.
import { afterEach, expect, test } from 'vitest';
import { DynamicLabel } from '../src/index.js';
import { LabelTable } from '../src/label-table.js';
import { scopeOf } from '../src/scope.js';
import { NO_SCOPE, register, type Scope } from '../src/shared-state.js';

const NOTED = 1;

const scopes = (n: number): Scope[] => Array.from({ length: n }, (_, i) => scopeOf(new DynamicLabel('i', i)));

afterEach(() => {
  register.enroll = undefined;
});

test('a scope is found by its id, and no scope by an id that nobody made known', () => {
  const [first, second, other] = scopes(3);
  const table = new LabelTable();
  for (const scope of [first, NO_SCOPE, second, first]) table.add(scope);
  expect([first, second, other, NO_SCOPE].map(({ id }) => table.find(id))).toEqual([first, second, 'lost', NO_SCOPE]);
});

test('what finds no room is counted and may be any that is not found', () => {
  const all = scopes(4);
  const table = new LabelTable(3);
  for (const scope of all) table.add(scope);
  expect(all.map((scope) => table.find(scope.id))).toEqual([...all.slice(0, 3), 'overflow']);
});

test('only labels that a sample may have met are made known', () => {
  const known = new Set<Scope>();
  register.enroll = (scope) => known.add(scope);
  const labels = Array.from({ length: 100 }, (_, i) => new DynamicLabel('i', i));
  const recordsOf = () => [...known].flatMap(({ label }) => (label === undefined ? [] : [label.record.i]));
  const sample = () => {
    register.cell[NOTED] = 1;
  };
  for (const label of labels) label.apply(() => undefined);
  expect(recordsOf()).toEqual([]);
  // In the inner one, in the outer one before a call inside, and in the outer one after it.
  labels[1].apply(() => labels[2].apply(sample));
  expect(recordsOf()).toContain(2);
  known.clear();
  labels[3].apply(() => {
    sample();
    labels[4].apply(() => undefined);
  });
  expect(recordsOf()).toContain(3);
  known.clear();
  labels[5].apply(() => {
    labels[6].apply(() => undefined);
    sample();
  });
  expect(recordsOf()).toEqual([5]);
});

test('a label inside itself: the one in between is made known, though no scope further in is inside of it', () => {
  const known = new Set<Scope>();
  register.enroll = (scope) => known.add(scope);
  const [a, b, c] = [1, 2, 3].map((i) => new DynamicLabel('i', i));
  let between: Scope | undefined;
  for (let round = 0; round < 2; round++) {
    known.clear();
    a.apply(() =>
      b.apply(() => {
        between = register.current;
        register.cell[NOTED] = 1;
        a.apply(() => c.apply(() => undefined));
      }),
    );
    expect(known).toContain(between);
  }
});

test('numbers that begin anew give nobody the samples of another', () => {
  const { nextId } = register;
  const [early] = [new DynamicLabel('i', 1)].map(scopeOf);
  const others = [new DynamicLabel('i', 2), new DynamicLabel('i', 3)];
  register.nextId = 0x7fff_ffff;
  const [, first] = others.map(scopeOf);
  register.nextId = early.id;
  const [again] = others.map(scopeOf);
  register.nextId = nextId + 10;
  expect([first.id, again.id]).toEqual([1, early.id]);
  const table = new LabelTable();
  for (const scope of [early, first, again, again]) table.add(scope);
  expect([table.find(early.id), table.find(first.id)]).toEqual(['lost', first]);
});
