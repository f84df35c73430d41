// Events of requests and answers, in the context of the answer or of the caller: connections bring them, and many share a connection. `emit` is wrapped once
// for all messages, because a server has no time for a closure a request. Messages that are not marked must notice nothing.
import type { EventEmitter } from 'node:events';
import { queueStore, type SpanQueue } from '../../local-span/local-span.js';
import { allOff, type Off } from '../channel.js';
import { boundFor, type Caller, callerHere, callerKept, isWithin } from '../in-context.js';
import { type Method, putMethod } from '../replace-method.js';

/** What a request that is answered is answered under. */
const ANSWERED = Symbol('spanline.answered-under');
/** The caller; null for a caller outside any span. */
const ASKED = Symbol('spanline.asked-by');

interface Message extends EventEmitter {
  [ANSWERED]?: SpanQueue;
  [ASKED]?: SpanQueue | null;
  /** Of an answer, on both sides. */
  readonly req?: Message;
}
type Emit = (this: Message, ...args: Parameters<EventEmitter['emit']>) => boolean;

/** Listeners of a request, and of its answer, are called under `queue`, but for those called in its trace already. */
export const answerUnder = (queue: SpanQueue, request: EventEmitter, response: object): void => {
  (request as Message)[ANSWERED] = queue;
  const { socket } = request as { socket?: { _httpMessage?: object | null } };
  // A client that does not wait for answers: what this one writes waits for the one before, and goes out when that is done.
  const isWaiting = socket?._httpMessage !== null && socket?._httpMessage !== undefined;
  const waiting = response as { assignSocket?: (socket: object) => void };
  if (isWaiting) waiting.assignSocket = boundFor(queue, waiting.assignSocket);
};

/** Listeners of a request that the program sends, and of its answer, are called in the context of `caller`. */
export const askFor = (caller: Caller, request: EventEmitter): void => {
  (request as Message)[ASKED] = caller ?? null;
};

/** Where the events of a message belong, for the context of the emission. */
type ContextOf = (message: Message, here: Caller) => Caller;

const answering = (queue: SpanQueue | undefined, here: Caller): Caller =>
  queue === undefined || isWithin(here, queue) ? here : queue;

const ofIncoming: ContextOf = (message, here) => {
  const asked = message.req?.[ASKED];
  return asked === undefined ? answering(message[ANSWERED], here) : callerKept(asked, here);
};

const ofAnswer: ContextOf = ({ req }, here) => answering(req?.[ANSWERED], here);

const ofAsking: ContextOf = (message, here) => callerKept(message[ASKED], here);

/** As {@link runningIn} does it, and in one frame too. Most events have no listener: they cost a look, and no list of arguments is made for them. */
const emitting = (contextOf: ContextOf, emit: Emit): Emit =>
  function (...args) {
    if (this.listenerCount(args[0]) === 0) return Reflect.apply(emit, this, args);
    const outer = callerHere();
    const context = contextOf(this, outer);
    if (context === outer) return Reflect.apply(emit, this, args);
    const { frame } = queueStore;
    queueStore.enter(context as SpanQueue);
    try {
      return Reflect.apply(emit, this, args);
    } finally {
      queueStore.enterAgain(frame, outer as SpanQueue);
    }
  };

/** Of `write` and `end`: a connection that another caller opened calls back there. */
const callingBack = (method: Method): Method =>
  function (this: unknown, ...args) {
    const last = args.length - 1;
    if (typeof args[last] === 'function') args[last] = boundFor(callerHere(), args[last]);
    return Reflect.apply(method, this, args);
  };

let users = 0;
let restore: Off | undefined;

const use = (): void => {
  users++;
  const { IncomingMessage, ServerResponse, ClientRequest } = process.getBuiltinModule('node:http');
  const { prototype: asking } = ClientRequest;
  restore ??= allOff([
    putMethod(IncomingMessage.prototype, 'emit', emitting(ofIncoming, IncomingMessage.prototype.emit)),
    putMethod(ServerResponse.prototype, 'emit', emitting(ofAnswer, ServerResponse.prototype.emit)),
    putMethod(asking, 'emit', emitting(ofAsking, asking.emit)),
    putMethod(asking, 'write', callingBack(asking.write as Method)),
    putMethod(asking, 'end', callingBack(asking.end as Method)),
  ]);
};

const leave = (): void => {
  users--;
  if (users > 0) return;
  restore?.();
  restore = undefined;
};

/** Messages of one instrumentation are marked from `begin` on, which comes with the first of them: `node:http` is loaded then. */
export const useMessages = (): { readonly begin: () => void; readonly off: Off } => {
  let isUsing = false;
  return {
    begin() {
      if (!isUsing) use();
      isUsing = true;
    },
    off() {
      if (isUsing) leave();
      isUsing = false;
    },
  };
};
