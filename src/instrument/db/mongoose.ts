// Operations of mongoose, by its channels; of versions that have none the driver's commands are traced, which what waits for the connection must
// send in the context of its caller. Filters and documents never leave.
import type { EventEmitter } from 'node:events';
import { allOff, type Off, quiet } from '../channel.js';
import { boundFor, type Caller, callerHere } from '../in-context.js';
import type { Begun } from '../measures.js';
import { type ModuleOptions, onModule } from '../on-module.js';
import {
  type Classes,
  type Method,
  onCall,
  onReturn,
  ownerOf,
  type Prototype,
  prototypeOf,
  SeenClasses,
} from '../replace-method.js';
import { traceChannel } from '../traced-channel.js';
import { Database, type DatabaseOptions, mongoCode, type Operation, type Server } from './database.js';

/** Options of the instrumentation `mongoose`. */
export interface MongooseOptions extends DatabaseOptions, ModuleOptions {}

interface Message extends Server {
  readonly operation?: unknown;
  readonly collection?: unknown;
}

const CHANNELS = ['query', 'aggregate', 'cursor:next', 'model:save', 'model:insertMany', 'model:bulkWrite'];

const operationOf = ({ operation, collection }: Message): Operation => {
  const name = typeof operation === 'string' ? operation : '';
  if (typeof collection !== 'string') return { text: '', operation: name, summary: name };
  return { text: '', operation: name, collection, summary: `${name} ${collection}`.trim() };
};

/** What is called when the connection is there: a function, or the name of a method, with its arguments. */
type Waiting = [name: unknown, args: unknown];
interface Queue {
  readonly queue?: readonly Waiting[];
}

/** Lets `off` find `heard`, which `once` has wrapped, by the `listener` of the program. */
const nameListener = quiet((emitter: EventEmitter, heard: unknown, listener: unknown) => {
  const put = emitter.rawListeners('cursor') as { listener?: unknown }[];
  const last = put.findLast((one) => one.listener === heard);
  if (last !== undefined) last.listener = listener;
});

/** Calls that waited for the connection are made in the contexts of their callers, not in that of the connecting call. */
const keepWaiting = (module: unknown): Off => {
  const callers = new WeakMap<Waiting, Caller>();
  const keepLast = (_: unknown, { queue }: Queue): void => {
    const last = queue?.at(-1);
    if (last !== undefined) callers.set(last, callerHere());
  };
  const giveBack = (collection: Queue): void => {
    const methods = collection as unknown as Prototype;
    for (const one of collection.queue ?? []) {
      const [name] = one;
      if (callers.has(one)) one[0] = boundFor(callers.get(one), typeof name === 'string' ? methods[name] : name);
    }
  };
  // A call of a cursor that is not open yet is repeated when it is: in its own context, which is marked as announced by mongoose.
  const classes = new SeenClasses();
  const askingOnce = (once: Method): Method =>
    function (this: unknown, event, listener, ...rest) {
      if (event !== 'cursor' || typeof listener !== 'function')
        return Reflect.apply(once, this, [event, listener, ...rest]);
      const heard = boundFor(callerHere(), listener);
      const result = Reflect.apply(once, this, [event, heard, ...rest]);
      nameListener(this as EventEmitter, heard, listener);
      return result;
    };
  const off = onModule<Classes<'Collection' | 'Query' | 'Aggregate'>>(
    'mongoose',
    module,
    ({ Collection, Query, Aggregate }) =>
      allOff([
        ...[Query, Aggregate].map((asking) =>
          onReturn(asking?.prototype, 'cursor', (cursor: object) =>
            classes.replace(prototypeOf(cursor), 'once', askingOnce),
          ),
        ),
        onReturn(ownerOf(Collection?.prototype, 'addQueue'), 'addQueue', keepLast),
        onCall(ownerOf(Collection?.prototype, 'doQueue'), 'doQueue', giveBack),
      ]),
  );
  return allOff([off, classes.off]);
};

/** mongoose 7 and later; spans of its own from 9.7 on. */
export const instrumentMongoose = (options: MongooseOptions): Off => {
  const mongo = new Database('mongoose', 'mongodb', options, mongoCode);
  return allOff([
    keepWaiting(options.module),
    ...CHANNELS.map((name) =>
      traceChannel<Message, Begun>(`mongoose:${name}`, {
        begin: (message) => mongo.start(message, operationOf(message), 'span'),
        finish: (begun, { error }) => mongo.finish(begun, error),
      }),
    ),
  ]);
};
