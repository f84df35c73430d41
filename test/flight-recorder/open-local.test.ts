// Local spans that have not ended are in a snapshot, as far as they are reached from spans that have not: marked as open, below their parents.
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Snapshot } from '../../src/flight-recorder/index.js';
import { MAX_OPEN_LOCAL_SPANS } from '../../src/flight-recorder/open-spans.js';
import { LocalCollector, LocalSpan, Span } from '../../src/index.js';
import { flight, namesOf } from './support/flight.js';

/** Each span below its parent, as `parent > name`. */
const parentsOf = (snapshot: Snapshot): string[] =>
  [...snapshot.traces()].flatMap(({ spans }) => {
    const nameOf = new Map(spans.map(({ record }) => [record.spanId, record.name]));
    return spans.map(
      ({ record: { name, parentSpanId }, isOpen }) =>
        `${nameOf.get(parentSpanId) ?? ''} > ${name}${isOpen ? ' open' : ''}`,
    );
  });

test('those of the code that asks, with what they have so far', () => {
  const { root, snapshot } = flight();
  const one = root('one');
  const taken = one.run(() => {
    LocalSpan.start('ended').end();
    const outer = LocalSpan.start('outer');
    const inner = LocalSpan.start('inner');
    inner.addProperty('rows', 3).addEvent('half');
    LocalSpan.start('ended inside').end();
    const now = snapshot();
    inner.end();
    outer.end();
    return now;
  });
  expect(parentsOf(taken)).toEqual([
    ' > one open',
    'one > ended',
    'one > outer open',
    'outer > inner open',
    'inner > ended inside',
  ]);
  const { spans } = [...taken.traces()][0];
  const { record } = spans[3];
  expect([record.isLocal, record.properties, record.events.map(({ name }) => name)]).toEqual([
    true,
    { rows: 3 },
    ['half'],
  ]);
  one.end();
  // Each is there once, when it has ended.
  expect(parentsOf(snapshot())).toEqual([
    ' > one',
    'one > ended',
    'one > outer',
    'outer > inner',
    'inner > ended inside',
  ]);
});

test('those of tasks that wait, of each its own', async () => {
  const { root, snapshot } = flight();
  const task = async (name: string): Promise<void> => {
    const span = root(name);
    await span.run(async () => {
      await turn();
      const local = LocalSpan.start(`work of ${name}`);
      await turn();
      await turn();
      local.end();
    });
    span.end();
  };
  const running = Promise.all([task('a'), task('b')]);
  await turn();
  await turn();
  expect(parentsOf(snapshot()).sort()).toEqual([' > a open', ' > b open', 'a > work of a open', 'b > work of b open']);
  await running;
  expect(namesOf(snapshot()).some((name) => name.endsWith('open'))).toBe(false);
});

test('those below a scope that was entered, and none twice', () => {
  const { root, snapshot } = flight();
  const one = root('one');
  const guard = one.enter();
  const local = LocalSpan.start('work');
  expect(parentsOf(snapshot())).toEqual([' > one open', 'one > work open']);
  local.end();
  guard[Symbol.dispose]();
  one.end();
});

test('none of a trace that was cancelled, nor of a collector without a trace', () => {
  const { root, snapshot } = flight();
  const one = root('one');
  one.run(() => {
    const local = LocalSpan.start('work');
    one.cancel();
    expect(namesOf(snapshot())).toEqual([]);
    local.end();
  });
  const collector = LocalCollector.start();
  const local = LocalSpan.start('detached');
  expect(namesOf(snapshot())).toEqual([]);
  local.end();
  collector.collect();
});

test('what a process that exits was doing is in what its exit leaves', () => {
  const { root, snapshot } = flight();
  const child = (parent: Span): void => {
    const span = Span.start('child', parent);
    span.run(() => {
      LocalSpan.start('in the middle');
      // As `process.exit` calls its listeners.
      expect(parentsOf(snapshot()).sort()).toEqual([' > one open', 'child > in the middle open', 'one > child open']);
    });
  };
  child(root('one'));
});

test('more of them than there is room for are left out, and counted', () => {
  const { root, snapshot, recorder } = flight();
  const one = root('deep');
  one.run(() => {
    for (let i = 0; i < MAX_OPEN_LOCAL_SPANS + 10; i++) LocalSpan.start('deeper');
    expect(snapshot().spanCount).toBe(MAX_OPEN_LOCAL_SPANS + 1);
    expect(recorder.stats().openLocalSpansLeftOut).toBe(10);
  });
});
