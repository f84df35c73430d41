// Finds out by trying whether frames of our own do in this Node all that its own frames do. A fault is a reason to use AsyncLocalStorage
// alone, never an error, and the context of the caller is left as it was.
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { timers } from '../base/calls/timers.js';

type Store = AsyncLocalStorage<unknown>;

/** The current frame, and which are ours. */
export interface Frames {
  current(): unknown;
  set(frame: unknown): void;
  isOwn(frame: unknown): boolean;
}

const seen = (...stores: readonly Store[]): string => stores.map((store) => String(store.getStore())).join(' ');

/** What `ours` and a store of Node see, by turns, and what must be seen. */
const observe = (ours: Store, other: Store, frames: Frames): readonly (readonly [string, string, string])[] => {
  const found: [string, string, string][] = [];
  const expectSeen = (where: string, wanted: string): void => {
    found.push([where, seen(ours, other), wanted]);
  };
  expectSeen('outside', 'undefined undefined');
  let bound: (() => void) | undefined;
  let snapshot: (<R>(fn: () => R) => R) | undefined;
  ours.run('a', () => {
    found.push(['frame', String(frames.isOwn(frames.current())), 'true']);
    expectSeen('run', 'a undefined');
    bound = AsyncResource.bind(() => expectSeen('bind', 'a undefined'));
    other.run(1, () => {
      expectSeen('foreign run', 'a 1');
      snapshot = AsyncLocalStorage.snapshot();
      ours.run('b', () => {
        expectSeen('nested run', 'b 1');
        other.exit(() => expectSeen('exit', 'b undefined'));
        expectSeen('after exit', 'b 1');
      });
      expectSeen('after nested run', 'a 1');
      ours.exit(() => expectSeen('own exit', 'undefined 1'));
    });
    expectSeen('after foreign run', 'a undefined');
    ours.run('c', () => other.enterWith(2));
    expectSeen('after enterWith', 'a 2');
    ours.run('d', () => {
      other.disable();
      expectSeen('disable', 'd undefined');
    });
    expectSeen('after disable', 'a undefined');
  });
  expectSeen('after run', 'undefined undefined');
  bound?.();
  snapshot?.(() => expectSeen('snapshot', 'a 1'));
  expectSeen('at the end', 'undefined undefined');
  return found;
};

/** Why frames must not be used here, as far as is seen at once; undefined when they may. */
export const faultOfFrames = (ours: Store, frames: Frames): string | undefined => {
  const outer = frames.current();
  const other: Store = new AsyncLocalStorage();
  try {
    frames.set(undefined);
    // Node 22 has them behind a flag, and later ones leave them out behind another.
    if (other.run(0, () => frames.current()) === undefined) return 'this Node keeps no frames';
    frames.set(undefined);
    const wrong = observe(ours, other, frames).find(([, is, wanted]) => is !== wanted);
    return wrong === undefined ? undefined : `self-test of frames, ${wrong[0]}: ${wrong[1]} instead of ${wrong[2]}`;
  } catch (error) {
    return `self-test of frames: ${String(error)}`;
  } finally {
    for (const store of [ours, other]) store.disable();
    frames.set(outer);
  }
};

/** The same, for what comes later. Keeps no process alive. */
export const faultOfLaterFrames = async (ours: Store): Promise<string | undefined> => {
  const wrong: string[] = [];
  const look = (where: string): void => {
    if (ours.getStore() !== 'later') wrong.push(where);
  };
  try {
    await ours.run('later', async () => {
      timers.setImmediate(look, 'an immediate').unref();
      await undefined;
      look('an await');
    });
    await new Promise((resolve) => timers.setImmediate(resolve).unref());
  } catch (error) {
    return `self-test of frames: ${String(error)}`;
  }
  return wrong.length === 0 ? undefined : `self-test of frames: lost over ${wrong.join(' and ')}`;
};
