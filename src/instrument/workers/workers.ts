// Messages to worker threads: what a worker does in answer to one that was posted inside a span is below that span. Messages, and what listeners
// get, must stay as they are; so the context goes beside them, by their number, which is counted for good once it is counted.
import { syncBuiltinESMExports } from 'node:module';
import threads, { type Worker } from 'node:worker_threads';
import { lookAlike } from '../../base/calls/look-alike.js';
import { Span } from '../../span/span.js';
import { type Off, quiet } from '../channel.js';
import { type Method, onReturn, type Prototype, replaceMethod } from '../replace-method.js';
import { scopeOf } from '../scope.js';
import { SentContexts } from './sent-contexts.js';

const KEY = 'spanline.sent-contexts.1';
// By it Node hands a message to the listeners of a port.
const DISPATCH = Symbol.for('nodejs.internal.kHybridDispatch');

const MESSAGE = { kind: 'consumer', scope: scopeOf('workers') } as const;

/** How many times it is on. */
let users = 0;
let isCounting = false;

/** Of a thread that starts others: each gets the place of contexts. */
const countSent = (): void => {
  const sent = new SentContexts();
  const counts = new WeakMap<object, number>();
  threads.setEnvironmentData(KEY, sent.memory);
  const announce = quiet((worker: Worker, number: number) => {
    const context = users > 0 ? Span.current()?.context : undefined;
    // A thread that has ended has no number any more.
    if (context !== undefined && worker.threadId > 0) sent.write(worker.threadId, number, context);
  });
  const takeBack = quiet((worker: Worker, number: number) => sent.clear(worker.threadId, number));
  replaceMethod(
    threads.Worker.prototype as unknown as Prototype,
    'postMessage',
    (post): Method =>
      function (this: unknown, ...args) {
        const worker = this as Worker;
        const next = (): number => (counts.get(worker) ?? 0) + 1;
        const expected = next();
        announce(worker, expected);
        let result: unknown;
        try {
          result = Reflect.apply(post, worker, args);
        } catch (error) {
          // One that cannot be cloned is none: the next has its number.
          takeBack(worker, next());
          throw error;
        }
        // Getters in it may have posted others before it.
        const number = next();
        if (number !== expected) announce(worker, number);
        counts.set(worker, number);
        return result;
      },
  );
};

interface Port {
  eventNames(): readonly (string | symbol)[];
  [DISPATCH]?: Method;
}

/** Of a worker: messages can be counted only from the first on, before anybody listens. */
const countReceived = (port: Port, memory: SharedArrayBuffer): void => {
  const dispatch = port[DISPATCH];
  // Also where a listener has gone again, with what it got.
  const hasBegun = port.eventNames().includes('message');
  if (typeof dispatch !== 'function' || hasBegun) return;
  const sent = new SentContexts(memory);
  let number = 0;
  port[DISPATCH] = lookAlike(function (this: unknown, ...args: unknown[]) {
    const context = sent.read(threads.threadId, ++number);
    if (context === undefined || users === 0) return Reflect.apply(dispatch, this, args);
    return Span.root('worker message', context, MESSAGE).runToEnd(() => Reflect.apply(dispatch, this, args));
  }, dispatch);
  // It takes a message that no listener gets.
  onReturn(threads, 'receiveMessageOnPort', (message, _, [from]) => {
    if (from === port && message !== undefined) number++;
  });
  syncBuiltinESMExports();
};

/** In every thread that runs it, as the sending and the receiving one. */
export const instrumentWorkers = (): Off => {
  users++;
  if (!isCounting) {
    isCounting = true;
    const { parentPort } = threads;
    const memory = parentPort === null ? undefined : threads.getEnvironmentData(KEY);
    if (memory instanceof SharedArrayBuffer) quiet(countReceived)(parentPort as unknown as Port, memory);
    countSent();
  }
  return () => void users--;
};
