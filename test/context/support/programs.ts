// Random programs on async contexts. A program is run with one kind of store or another and gives what it has seen, place by place, so
// that two kinds can be compared.
import {
  AsyncLocalStorage,
  AsyncResource,
  createHook,
  executionAsyncId,
  executionAsyncResource,
} from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';

export type Store = AsyncLocalStorage<unknown>;

/** Numbers from 0 to below `n`, the same for the same seed. */
export const randomNumbers = (seed: number): ((n: number) => number) => {
  let state = seed * 2654435761 + 1;
  return (n) => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % n;
  };
};

/** What a program saw: places and values of stores there, and how many async resources of each kind it made. */
export interface Seen {
  readonly values: readonly string[];
  readonly resources: Readonly<Record<string, number>>;
}

const DEPTH = 5;
const DISABLE = 12;
/** Steps in which something runs in a context kept from before. */
const LATER = new Set([3, 6, 7, 8, 13]);
const later: Readonly<Record<number, (fn: () => void) => void>> = {
  0: (fn) => process.nextTick(fn),
  1: queueMicrotask,
  2: (fn) => void setImmediate(fn),
  3: (fn) => void Promise.resolve().then(fn),
};

/**
 * Run the program of this seed. `own` is the store under test; two stores of Node are used beside it. Only a program that keeps no
 * context disables stores: that changes the Map of Node in place, and a frame above it sees it where Node's own, a copy, does not.
 */
export const runProgram = async (seed: number, own: Store): Promise<Seen> => {
  const isSynchronous = seed % 3 === 0;
  const values: string[] = [];
  const resources: Record<string, number> = {};
  const hook = createHook({
    init(_id, type) {
      if (active > 0) resources[type] = (resources[type] ?? 0) + 1;
    },
  });
  const stores: readonly Store[] = [own, new AsyncLocalStorage(), new AsyncLocalStorage()];
  const probe = channel(`spanline-test-${seed}`);
  probe.bindStore(stores[1], (message) => message);
  const open: Promise<unknown>[] = [];
  let next = 0;
  // Parts of the program on the stack: the test runner makes resources too.
  let active = 0;

  const look = (place: string): void => {
    values.push(`${place} ${stores.map((store) => String(store.getStore())).join(' ')}`);
  };

  const steps = (place: string, depth: number, random: (n: number) => number): void => {
    const count = 1 + random(3);
    for (let i = 0; i < count; i++) step(`${place}.${i}`, depth, random);
  };

  const inside = (place: string, depth: number, seedOfInside: number): void => {
    active++;
    look(place);
    if (depth < DEPTH) steps(place, depth + 1, randomNumbers(seedOfInside));
    look(`${place}'`);
    active--;
  };

  const insideLater = async (place: string, depth: number, seedOfInside: number): Promise<void> => {
    inside(`${place}a`, depth + 1, seedOfInside);
    await undefined;
    inside(`${place}b`, depth + 1, seedOfInside + 1);
    if (seedOfInside % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
    look(`${place}c`);
  };

  const step = (place: string, depth: number, random: (n: number) => number): void => {
    const store = stores[random(2) === 0 ? 0 : random(3)];
    const seedOfInside = random(1 << 20);
    const value = random(8) === 0 ? undefined : `v${next++ % 5}`;
    const id = executionAsyncId();
    const resource = executionAsyncResource();
    const kind = random(14);
    const isLeftOut = isSynchronous ? LATER.has(kind) : kind === DISABLE;
    switch (isLeftOut ? 0 : kind) {
      case 0:
      case 1:
      case 2:
        store.run(value, inside, place, depth, seedOfInside);
        break;
      case 3:
        open.push(store.run(value, insideLater, place, depth, seedOfInside));
        break;
      case 4:
        store.exit(inside, place, depth, seedOfInside);
        break;
      case 5:
        store.enterWith(value);
        break;
      case 6: {
        const bound = AsyncResource.bind(() => inside(`${place}bound`, depth, seedOfInside));
        stores[0].run(value, bound);
        break;
      }
      case 7: {
        const within = AsyncLocalStorage.snapshot();
        store.run(value, () => within(() => inside(`${place}snapshot`, depth, seedOfInside)));
        break;
      }
      case 8: {
        const promise = new Promise<void>((resolve) => {
          later[random(4)](() => {
            inside(`${place}later`, depth, seedOfInside);
            resolve();
          });
        });
        open.push(promise);
        break;
      }
      case 9: {
        const emitter = new EventEmitter();
        emitter.on('event', () => inside(`${place}event`, depth, seedOfInside));
        store.run(value, () => emitter.emit('event'));
        break;
      }
      case 10:
        probe.runStores(value, () => inside(`${place}channel`, depth, seedOfInside));
        break;
      case 11:
        try {
          store.run(value, () => {
            inside(`${place}throws`, depth, seedOfInside);
            throw new Error(place);
          });
        } catch (error) {
          look(`${place} ${(error as Error).message}`);
        }
        break;
      case DISABLE:
        // The store under test must go on as a store that can be used again.
        stores[1 + random(2)].disable();
        break;
      default:
        open.push(
          Promise.all([
            insideLater(`${place}x`, depth, seedOfInside),
            insideLater(`${place}y`, depth, value === undefined ? 1 : 2),
          ]),
        );
    }
    look(place);
    if (executionAsyncId() !== id || executionAsyncResource() !== resource) values.push(`${place} other resource`);
  };

  hook.enable();
  inside('p', 0, seed);
  for (let i = 0; i < open.length; i++) await open[i];
  hook.disable();
  look('end');
  probe.unbindStore(stores[1]);
  return { values, resources };
};
