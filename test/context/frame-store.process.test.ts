// A store that goes by frames where Node has them: what it tells of its way, what a frame answers, and what it keeps alive.
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import domain from 'node:domain';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ContextFrame, currentFrame, FrameStore, faultOfFrames, hasAccess } from '../../src/context/frame-store.js';
import { runChild } from '../support/child.js';

const store = new FrameStore<unknown>();
const usesFrames = store.info.way === 'frames';
const [major] = process.versions.node.split('.').map(Number);
// Node 22 keeps frames where it is asked to.
const keepsFrames = major >= 24 || `${process.env.NODE_OPTIONS}`.includes('--experimental-async-context-frame');

test('frames are used where Node has them and nobody says otherwise', () => {
  const isPlain = process.env.SPANLINE_CONTEXT === 'als' || !hasAccess || !keepsFrames;
  expect(store.info.way).toBe(isPlain ? 'als' : 'frames');
  if (isPlain) expect(store.info.reason).toMatch(/SPANLINE_CONTEXT=als|no access to frames|keeps no frames/);
});

describe('a frame', () => {
  const [own, other] = [new AsyncLocalStorage<unknown>(), new AsyncLocalStorage<unknown>()];
  const frame = (): ContextFrame<unknown> => new ContextFrame(own, 'own', new Map([[other, 'other']]));

  test('answers as a Map does', () => {
    const one = frame();
    expect([one.has(own), one.has(other), one.has(store)]).toEqual([true, true, false]);
    expect([one.get(own), one.get(other), one.get(store)]).toEqual(['own', 'other', undefined]);
    expect([...one]).toEqual([
      [other, 'other'],
      [own, 'own'],
    ]);
    expect(one.isChanged).toBe(false);
  });

  test('is changed in place, and what is around it is not', () => {
    const around = new Map<AsyncLocalStorage<unknown>, unknown>([[other, 'other']]);
    const one = new ContextFrame(own, 'own', around);
    expect(one.delete(other)).toBe(true);
    expect(one.delete(other)).toBe(false);
    one.disable(own);
    expect([...one]).toEqual([]);
    one.set(own, 'again').set(other, 'too');
    expect([one.get(own), one.get(other), one.isChanged]).toEqual(['again', 'too', true]);
    expect([...around]).toEqual([[other, 'other']]);
  });

  test('is never around one of its own store, and one of another store is copied', () => {
    const one = frame();
    const inner = ContextFrame.around(one, own);
    expect(inner).not.toBeInstanceOf(ContextFrame);
    expect(inner?.has(own)).toBe(false);
    const beside = ContextFrame.around(one, other);
    expect(beside).toBeInstanceOf(Map);
    expect([...(beside ?? [])]).toEqual([...one]);
  });
});

test('the self-test finds a store that does not what it should', () => {
  if (!usesFrames) return;
  class Forgets extends FrameStore<unknown> {
    override getStore(): unknown {
      return super.getStore() === 'b' ? 'a' : super.getStore();
    }
  }
  expect(faultOfFrames(new Forgets())).toMatch(/^self-test of frames, nested run: a 1 instead of b 1$/);
  expect(faultOfFrames(new FrameStore())).toBeUndefined();
});

describe('run', () => {
  test('gives arguments and the result on, and throws what is thrown', () => {
    expect(store.run('x', (a: number, b: number) => `${store.getStore()} ${a} ${b}`, 1, 2)).toBe('x 1 2');
    expect(() => store.run('x', () => JSON.parse('{'))).toThrow(SyntaxError);
    expect(store.getStore()).toBeUndefined();
  });

  test('changes neither the async id, nor the resource, nor the domain', () => {
    const entered = domain.create();
    const seen = entered.run(() => store.run('x', () => (domain as unknown as { active: unknown }).active));
    expect(seen).toBe(entered);
    const resource = new AsyncResource('test');
    resource.runInAsyncScope(() => {
      const inside = store.run('x', () => AsyncResource.bind(() => store.getStore()));
      expect(inside()).toBe('x');
    });
  });

  test('goes on in what comes later', async () => {
    const bound = channel('spanline-frame-store-test');
    bound.bindStore(store, (message) => message);
    const seen: unknown[] = [];
    const look = () => seen.push(store.getStore());
    bound.runStores('message', look);
    bound.unbindStore(store);
    await store.run('later', async () => {
      setTimeout(look, 1);
      setImmediate(look);
      process.nextTick(look);
      await undefined;
      look();
      await new Promise((resolve) => setTimeout(resolve, 5));
      look();
    });
    expect(seen).toEqual(['message', 'later', 'later', 'later', 'later', 'later']);
    expect(store.getStore()).toBeUndefined();
  });

  test.runIf(usesFrames)('makes a frame, and gives back the one around', () => {
    const outer = new AsyncLocalStorage<number>();
    outer.run(1, () => {
      const around = currentFrame();
      store.run('x', () => expect(currentFrame()).toBeInstanceOf(ContextFrame));
      expect(currentFrame()).toBe(around);
    });
  });
});

describe('what was current is entered again', () => {
  const other = new AsyncLocalStorage<unknown>();
  /** What is current after `work` ran under another value, and whether the frame itself is back. */
  const afterwards = (work: () => void): readonly unknown[] =>
    other.run(1, () =>
      store.run('outer', () => {
        const { frame } = store;
        store.enter('inner');
        expect([store.getStore(), other.getStore()]).toEqual(['inner', 1]);
        work();
        store.enterAgain(frame, 'outer');
        return [store.getStore(), other.getStore(), usesFrames && currentFrame() === frame];
      }),
    );

  test('by its own frame, where only this store has changed', () => {
    expect(afterwards(() => {})).toEqual(['outer', 1, usesFrames]);
    expect(afterwards(() => store.enter('another'))).toEqual(['outer', 1, usesFrames]);
  });

  test('beside what others have changed meanwhile', () => {
    expect(afterwards(() => other.enterWith(2))).toEqual(['outer', 2, false]);
    expect(afterwards(() => other.disable())).toEqual(['outer', undefined, false]);
  });

  test('outside any frame', () => {
    const { frame } = store;
    store.enter('inner');
    store.enterAgain(frame, undefined);
    expect([store.getStore(), usesFrames ? currentFrame() : frame]).toEqual([undefined, frame]);
  });
});

test('100,000 scopes of two stores, each inside the one before, keep nothing', async () => {
  // What it enters would be found by other tests, where there are no frames.
  const first = new FrameStore<number>();
  const foreign = new AsyncLocalStorage<number>();
  const second = new FrameStore<number>();
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  // Each goes on from where the one before was entered, as a poll that starts itself again does.
  const go = async (left: number): Promise<void> => {
    for (let i = left; i > 0; i--) {
      await undefined;
      first.enterWith(i);
      await first.run(i, () => foreign.run(i, () => second.run(i, async () => undefined)));
    }
  };
  const chain = (left: number): Promise<void> =>
    new Promise((resolve) => {
      const next = (n: number): void => {
        if (n === 0) resolve();
        else first.run(n, () => foreign.run(n, () => second.run(n, () => queueMicrotask(() => next(n - 1)))));
      };
      next(left);
    });
  await go(10_000);
  await chain(100_000);
  globalThis.gc?.();
  // 330,000 frames of 60 bytes and more would be 20 MB; what the test itself leaves is less than one.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(8 * 2 ** 20);
});

describe('somebody who reads frames in native code', () => {
  test.each(['before', 'after'])('loaded %s the first span: said once, and the plain way is gone', async (when) => {
    const folder = mkdtempSync(join(tmpdir(), 'spanline-reader-'));
    try {
      const reader = join(folder, 'node_modules/@datadog/pprof');
      mkdirSync(reader, { recursive: true });
      writeFileSync(join(reader, 'index.js'), 'module.exports = 1;');
      const { NODE_OPTIONS = '' } = process.env;
      const child = await runChild('context-reader', {
        args: [join(reader, 'index.js'), when],
        env: { NODE_OPTIONS },
      });
      const { first, last, warnings } = JSON.parse(child.stdout) as Record<string, unknown>;
      const plain = {
        way: 'als',
        reason: usesFrames ? '@datadog/pprof reads frames in native code' : store.info.reason,
      };
      expect(last).toEqual(plain);
      expect(first).toEqual(when === 'before' ? plain : store.info);
      expect(warnings).toEqual(usesFrames ? ['SPANLINE_CONTEXT_READER'] : []);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
