// Procedures of tRPC, which publishes nothing: the first middleware of every procedure is ours, put there as the program makes its root object. A batch is
// several procedures of one request. What a procedure takes and gives never leaves.
import { queueStore } from '../local-span/local-span.js';
import type { Off } from './channel.js';
import { startCall } from './client-span.js';
import { fieldOf } from './failure.js';
import { type ModuleOptions, onModule } from './on-module.js';
import { onReturn, prototypeOf } from './replace-method.js';
import { scopeOf } from './scope.js';
import { type CallWork, tracedCall } from './traced-call.js';

interface Trpc {
  /** Of a class that is not exported. */
  readonly initTRPC?: object;
}
interface Root {
  procedure: { use(middleware: Middleware): unknown };
}
interface Call {
  readonly path?: unknown;
  readonly type?: unknown;
  /** The same for each middleware of a call; of tRPC 11. */
  readonly getRawInput?: unknown;
  /** Of tRPC 10. */
  readonly rawInput?: unknown;
  next(): unknown;
}
type Middleware = (call: Call) => unknown;

const PROCEDURE = { kind: 'internal', scope: scopeOf('trpc') } as const;

/** Of the others the caller was wrong. */
const FAULTS = ['INTERNAL_SERVER_ERROR', 'NOT_IMPLEMENTED', 'BAD_GATEWAY', 'SERVICE_UNAVAILABLE', 'GATEWAY_TIMEOUT'];

/** How many have it on: middleware stays where it was put. */
let users = 0;

/** Calls that have a span: a procedure that is put together from several has our middleware in each of them. */
const seen = new WeakSet<object>();

/** What the spans of tRPC 10 are of, whose calls share nothing that names them. */
const callsOf = new WeakMap<object, Call>();

/** Whether it is asked for right under its own span, with what that was asked with. */
const isUnderItself = ({ path, type, rawInput }: Call): boolean => {
  const mount = queueStore.getStore()?.mount;
  const outer = mount === undefined ? undefined : callsOf.get(mount);
  return outer !== undefined && outer.path === path && outer.type === type && Object.is(outer.rawInput, rawInput);
};

const isSeen = (call: Call): boolean => {
  const { getRawInput: key } = call;
  if (typeof key !== 'function') return isUnderItself(call);
  if (seen.has(key)) return true;
  seen.add(key);
  return false;
};

/** Middleware that forgets to hand on a result has failed. */
const codeOf = (result: unknown): string => {
  if (fieldOf(result, 'ok') === true) return 'OK';
  const code = fieldOf(fieldOf(result, 'error'), 'code');
  return typeof code === 'string' ? code : 'INTERNAL_SERVER_ERROR';
};

const procedures: CallWork<Call> = {
  begin(call) {
    if (isSeen(call)) return undefined;
    const { path, getRawInput } = call;
    const name = typeof path === 'string' && path !== '' ? path : 'procedure';
    const span = startCall(name, PROCEDURE, true);
    if (span?.isRecording !== true) return undefined;
    if (typeof getRawInput !== 'function') callsOf.set(span, call);
    span.describe(['rpc.system.name', 'trpc', 'rpc.method', name]);
    return span;
  },
  // Its failure is a result; where a later middleware of the program throws, it comes as one too.
  finish(span, { result }) {
    const code = codeOf(result);
    span.addProperty('rpc.response.status_code', code);
    if (FAULTS.includes(code)) span.addProperty('error.type', code).setStatus('error', code);
  },
};

const trace = tracedCall(
  (call) => (call as Call).next(),
  () => (users === 0 ? undefined : procedures),
  ([call]) => call as Call,
) as Middleware;

/** tRPC 10 and later. */
export const instrumentTrpc = ({ module }: ModuleOptions): Off => {
  users++;
  const off = onModule<Trpc>('@trpc/server', module, ({ initTRPC }) =>
    onReturn(prototypeOf(initTRPC), 'create', (root: Root) => {
      root.procedure = root.procedure.use(trace) as Root['procedure'];
    }),
  );
  return () => {
    users--;
    off();
  };
};
