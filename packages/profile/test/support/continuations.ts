// Every way in which work goes on later: each does `work` some time after it was asked to, in the label it was asked in.
import { EventEmitter, once } from 'node:events';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { DynamicLabel } from '../../src/index.js';

type Work = () => void;

/** Resolves when `work` was done, called back by `start`. */
const calledBack = (start: (work: Work) => void, work: Work): Promise<void> =>
  new Promise((resolve) =>
    start(() => {
      work();
      resolve();
    }),
  );

/** Followed by the profile itself. */
export const FOLLOWED: Readonly<Record<string, (label: DynamicLabel, work: Work) => Promise<unknown>>> = {
  'a promise’s then': (label, work) => label.apply(() => Promise.resolve().then(work)),
  'an async function after an await': (label, work) =>
    label.run(async () => {
      await undefined;
      work();
    }),
  'an async function after an await of a timer': (label, work) =>
    label.run(async () => {
      await delay(1);
      work();
    }),
  'an async function called by another': (label, work) =>
    label.run(async () => {
      const inner = async (): Promise<void> => {
        await Promise.resolve();
        work();
      };
      await Promise.all([inner(), inner()]);
    }),
  'an async generator': (label, work) =>
    label.run(async () => {
      const generate = async function* (): AsyncGenerator<void> {
        await undefined;
        yield work();
        await delay(1);
        yield work();
      };
      for await (const _ of generate());
    }),
  'a thenable': (label, work) =>
    label.run(async () => {
      // biome-ignore lint/suspicious/noThenProperty: a thenable is what this is about.
      await { then: (resolve: (value: number) => void) => resolve(1) };
      work();
    }),
  'a stream that is iterated': (label, work) =>
    label.run(async () => {
      for await (const _ of Readable.from(['a', 'b'])) work();
    }),
  'an event that is awaited': (label, work) =>
    label.run(async () => {
      const emitter = new EventEmitter();
      setImmediate(() => emitter.emit('ready'));
      await once(emitter, 'ready');
      work();
    }),
  'a coroutine': (label, work) =>
    label.coroutine(function* () {
      yield delay(1);
      work();
    })(),
};

/** Called back from nowhere: `bind` is what keeps the label. */
export const BOUND: typeof FOLLOWED = {
  'setTimeout with bind': (label, work) => calledBack((cb) => setTimeout(label.bind(cb), 1), work),
  'setImmediate with bind': (label, work) => calledBack((cb) => setImmediate(label.bind(cb)), work),
  'queueMicrotask with bind': (label, work) => calledBack((cb) => queueMicrotask(label.bind(cb)), work),
  'process.nextTick with bind': (label, work) => calledBack((cb) => process.nextTick(label.bind(cb)), work),
  'an emitter with bind': (label, work) =>
    calledBack((cb) => {
      const emitter = new EventEmitter();
      emitter.on('ready', label.bind(cb));
      setImmediate(() => emitter.emit('ready'));
    }, work),
  'a stream’s data with bind': (label, work) =>
    calledBack((cb) => Readable.from(['a']).on('data', label.bind(cb)), work),
  'a transform with bind': (label, work) => {
    const transform = label.bind((_: unknown, __: unknown, done: () => void) => {
      work();
      done();
    });
    return pipeline(Readable.from(['a', 'b']), new Transform({ transform }));
  },
  'an abort signal with bind': (label, work) =>
    calledBack((cb) => {
      const controller = new AbortController();
      controller.signal.addEventListener('abort', label.bind(cb));
      setImmediate(() => controller.abort());
    }, work),
};
