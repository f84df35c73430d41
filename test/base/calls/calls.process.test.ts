// Pauses, waits between attempts, calls at a time, and packages that may be missing.
import { getEventListeners } from 'node:events';
import { createRequire } from 'node:module';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { backoffMs, inParallel, sleep, timerMs, within } from '../../../src/base/calls/timers.js';
import { missingPackage } from '../../../src/base/packages.js';

afterEach(() => vi.restoreAllMocks());

test('timers get only what they can wait', () => {
  expect([-1, 5, Number.POSITIVE_INFINITY].map(timerMs)).toEqual([0, 5, 2 ** 31 - 1]);
});

describe('sleep', () => {
  test('ends in time, and leaves its signal alone', async () => {
    const { signal } = new AbortController();
    await sleep(1, signal);
    await sleep(0);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('ends with the reason of its signal', async () => {
    const controller = new AbortController();
    const pause = sleep(60_000, controller.signal);
    controller.abort(new Error('enough'));
    await expect(pause).rejects.toThrow('enough');
    await expect(sleep(60_000, controller.signal)).rejects.toThrow('enough');
  });
});

describe('within', () => {
  test('waits for the work, or for the time', async () => {
    await within(60_000, Promise.resolve());
    await within(1, new Promise(() => {}));
    await expect(within(60_000, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  });
});

describe('backoff', () => {
  test('doubles up to a bound, and at least half of it is waited', () => {
    const waits = { firstMs: 100, maxMs: 1000 };
    vi.spyOn(Math, 'random').mockReturnValue(0);
    expect([1, 2, 3, 4, 5, 6, 5000].map((n) => backoffMs(n, waits))).toEqual([100, 200, 400, 800, 1000, 1000, 1000]);
    vi.spyOn(Math, 'random').mockReturnValue(1);
    expect(backoffMs(1, waits)).toBe(50);
    expect(backoffMs(1, { ...waits, jitter: 1 })).toBe(0);
  });
});

describe('in parallel', () => {
  test('never more at a time than may be', async () => {
    let running = 0;
    let max = 0;
    const done: number[] = [];
    await inParallel(new Set([1, 2, 3, 4, 5, 6, 7]), 3, async (n) => {
      max = Math.max(max, ++running);
      await sleep(1);
      running--;
      done.push(n);
    });
    expect(max).toBe(3);
    expect(done.sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
    await inParallel([], 3, async () => expect.unreachable());
  });

  test('the first failure starts no further call, and what runs is waited for', async () => {
    const started: number[] = [];
    const ended: number[] = [];
    const work = inParallel([1, 2, 3, 4], 2, async (n) => {
      started.push(n);
      if (n === 1) throw undefined;
      await sleep(5);
      ended.push(n);
      throw new Error('second');
    });
    await expect(work).rejects.toBeUndefined();
    expect([started, ended]).toEqual([[1, 2], [2]]);
  });
});

describe('optional packages', () => {
  const toError = (message: string, options: ErrorOptions) => new TypeError(message, options);

  test('one that is missing is named with the command that installs it', async () => {
    const missing = 'spanline-no-such-package';
    for (const load of [() => import(missing), async () => createRequire(import.meta.url)(missing)]) {
      const cause = await load().catch((error: unknown) => error);
      const error = missingPackage(cause, missing, 'a test', toError);
      expect(error).toEqual(new TypeError(`a test needs the package ${missing}: npm install ${missing}`, { cause }));
    }
  });

  test.each([new RangeError('broken'), null, undefined, 'text'])('any other failure is passed on: %o', (cause) => {
    expect(missingPackage(cause, 'x', 'this', toError)).toBe(cause);
  });
});
