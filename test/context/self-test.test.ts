// The self-test of frames says what it found, whatever a store does, and leaves the context of its caller as it was.
import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, test } from 'vitest';
import { ContextFrame, FrameStore, faultOfFrames, faultOfLaterFrames } from '../../src/context/frame-store.js';

type Store = AsyncLocalStorage<unknown>;

const usesFrames = new FrameStore().info.way === 'frames';

/** Runs without a context of its own. */
class Loses extends AsyncLocalStorage<unknown> {
  override run<R, A extends unknown[]>(_: unknown, fn: (...args: A) => R, ...args: A): R {
    return fn(...args);
  }
}
class Throws extends AsyncLocalStorage<unknown> {
  override run(): never {
    throw new RangeError('no run');
  }
}

describe('what comes later', () => {
  test('of a store that works', async () => {
    expect(await faultOfLaterFrames(new AsyncLocalStorage())).toBeUndefined();
    expect(await faultOfLaterFrames(new FrameStore())).toBeUndefined();
  });

  test('that is lost is named', async () => {
    const fault = await faultOfLaterFrames(new Loses());
    expect(fault).toBe('self-test of frames: lost over an await and an immediate');
  });

  test('of a store that throws is a fault, not an error', async () => {
    expect(await faultOfLaterFrames(new Throws() as Store)).toBe('self-test of frames: RangeError: no run');
  });
});

describe.runIf(usesFrames)('what is seen at once', () => {
  const other = new AsyncLocalStorage<string>();

  test.each([
    ['throws', new Throws() as Store, 'self-test of frames: RangeError: no run'],
    ['makes no frames of ours', new AsyncLocalStorage() as Store, 'self-test of frames, frame: false instead of true'],
  ])('of a store that %s is a fault, and the context is as it was', (_, store, fault) => {
    other.run('kept', () => {
      expect(faultOfFrames(store)).toBe(fault);
      expect(other.getStore()).toBe('kept');
    });
  });
});

describe('a store that was disabled inside its own run', () => {
  test('runs the same value again', () => {
    const store = new FrameStore<string>();
    store.run('x', () => {
      store.disable();
      expect(store.getStore()).toBeUndefined();
      expect(store.run('x', () => store.getStore())).toBe('x');
    });
  });

  test('has a value again that Node sets in the frame', () => {
    const [own, other] = [new AsyncLocalStorage<string>(), new AsyncLocalStorage<string>()];
    const frame = new ContextFrame(own, 'first', new Map([[other, 'other']]));
    frame.set(own, 'second');
    expect([frame.get(own), frame.get(other)]).toEqual(['second', 'other']);
    expect([frame.holds(own, 'second'), frame.holds(other, 'other')]).toEqual([true, false]);
    frame.disable(own);
    expect([frame.holds(own, 'second'), frame.has(own)]).toEqual([false, false]);
  });
});
