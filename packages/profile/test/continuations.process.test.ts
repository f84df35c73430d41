// What a label began goes on in the label, however it goes on; and nothing else does.
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DynamicLabel, type RunningProfile, startProfile } from '../src/index.js';
import { recordOf } from '../src/scope.js';
import { NO_SCOPE, register } from '../src/shared-state.js';
import { carriers } from './support/carriers.js';
import { BOUND, FOLLOWED } from './support/continuations.js';

const WAYS = Object.entries({ ...FOLLOWED, ...BOUND });

describe('the register while a profile is taken', () => {
  let running: RunningProfile;
  beforeEach(async () => {
    running = await startProfile({ carrier: carriers[0] });
  });
  afterEach(() => {
    running.stop();
    expect(register.current).toBe(NO_SCOPE);
  });

  test.each(WAYS)('%s: holds the label exactly while the work runs', async (_, way) => {
    const seen: object[] = [];
    await way(new DynamicLabel('query', 'q1'), () => seen.push({ ...recordOf(register.current) }));
    expect(register.current).toBe(NO_SCOPE);
    expect(seen.length).toBeGreaterThan(0);
    for (const each of seen) expect(each).toEqual({ query: 'q1' });
  });

  test('tasks that run at once never see each other’s label', async () => {
    const task = async (i: number): Promise<void> => {
      for (let step = 0; step < 20; step++) {
        if (step % 7 === i % 7) await delay(1);
        else await undefined;
        expect(recordOf(register.current)).toEqual({ task: i });
      }
    };
    await Promise.all(Array.from({ length: 30 }, (_, i) => new DynamicLabel('task', i).run(() => task(i))));
  });

  test('labels around each other go on together', async () => {
    const seen = await new DynamicLabel('query', 'q1').run(async () => {
      await undefined;
      return new DynamicLabel('node', 'scan').run(async () => {
        await delay(1);
        return recordOf(register.current);
      });
    });
    expect(seen).toEqual({ query: 'q1', node: 'scan' });
  });

  test('a promise shows nothing of its label', () => {
    const promise = new DynamicLabel('query', 'q1').apply(() => Promise.resolve(1));
    expect(Reflect.ownKeys(promise)).toEqual([]);
    expect(inspect(promise)).toBe('Promise { 1 }');
  });

  test('promises that are frozen, of a subclass or rejected are as they were', async () => {
    class Frozen<T> extends Promise<T> {
      constructor(run: (resolve: (value: T) => void, reject: (reason: unknown) => void) => void) {
        super(run);
        Object.freeze(this);
      }
    }
    const label = new DynamicLabel('query', 'q1');
    expect(await label.run(() => new Frozen<number>((resolve) => resolve(1)).then((value) => value + 1))).toBe(2);
    await expect(label.run(() => Frozen.reject(new Error('no')))).rejects.toThrow('no');
  });
});

test('a profile stopped inside a continuation leaves no label behind', async () => {
  const running = await startProfile({ carrier: carriers[0] });
  await new DynamicLabel('query', 'q1').run(async () => {
    await undefined;
    running.stop();
    expect(recordOf(register.current)).toEqual({ query: 'q1' });
  });
  expect(register.current).toBe(NO_SCOPE);
  expect(register.cell[0]).toBe(0);
});

test('a profile started inside a continuation leaves the labels around as they are', async () => {
  const label = new DynamicLabel('query', 'q1');
  const running = await label.run(async () => {
    const started = await startProfile({ carrier: carriers[0] });
    expect(label.apply(() => recordOf(register.current))).toEqual({ query: 'q1' });
    return started;
  });
  expect(register.current).toBe(NO_SCOPE);
  running.stop();
});

test('without a profile no promise is touched', async () => {
  const label = new DynamicLabel('query', 'q1');
  const seen = await label.run(async () => {
    await undefined;
    return register.current;
  });
  expect(seen).toBe(NO_SCOPE);
});
