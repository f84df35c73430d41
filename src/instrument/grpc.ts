// Calls of @grpc/grpc-js, on both sides, which publish nothing: the method of a channel that every call starts with is wrapped, and the
// registration of handlers. Neither messages nor metadata nor the text of a status may get into a span.
import type { EventEmitter } from 'node:events';
import { queueStore } from '../local-span/queue-store.js';
import { Counter, count } from '../rows/counters.js';
import type { PropertyValue } from '../rows/property.js';
import { Span } from '../span/span.js';
import { allOff, callHook, callPredicate, type Off, quiet } from './channel.js';
import { startCall } from './client-span.js';
import { boundFor, type Caller, callerHere, emitUnder } from './in-context.js';
import { type ModuleOptions, onModule } from './on-module.js';
import { IGNORED } from './other-context.js';
import { addPeer } from './peer.js';
import { injectSpan, type Propagator } from './propagator.js';
import { type Method, type Prototype, replaceMethod } from './replace-method.js';
import { scopeOf } from './scope.js';

/** A call as hooks see it. */
export interface GrpcCall {
  /** `package.Service/Method` */
  readonly method: string;
  readonly side: 'client' | 'server';
}

/** Options of the instrumentation `grpc`. */
export interface GrpcOptions extends ModuleOptions {
  /** True: this call is not traced. */
  readonly ignore?: (call: GrpcCall) => boolean;
  /** Called when the call is over, before the span ends. */
  readonly enrich?: (span: Span, call: GrpcCall) => void;
  /** Trace only calls sent by a traced piece of work; false by default. */
  readonly requireParent?: boolean;
}

interface Metadata {
  set(name: string, value: string): void;
  getMap(): Record<string, unknown>;
  clone(): Metadata;
}
interface Grpc {
  readonly Channel?: { readonly prototype: Prototype };
  readonly Server?: { readonly prototype: Prototype };
}
interface Listener {
  onReceiveMetadata(metadata: Metadata): void;
  onReceiveMessage(message: unknown): void;
  onReceiveStatus(status: { readonly code: unknown }): void;
}
interface WithPeer {
  getPeer?(): unknown;
}
interface OutgoingCall extends WithPeer {
  start(metadata: Metadata, listener: Listener): void;
  sendMessageWithContext(context: { readonly callback?: unknown }, message: unknown): void;
}
interface ServerCall extends EventEmitter, WithPeer {
  readonly metadata: Metadata;
  readonly cancelled: boolean;
}
type Answer = (error: { readonly code?: unknown } | null, ...rest: unknown[]) => unknown;

const CODES =
  'OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED'.split(
    ' ',
  );
// Of the others a server blames the caller.
const FAULTS_OF_SERVERS = ['UNKNOWN', 'DEADLINE_EXCEEDED', 'UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS'];

const ANSWER = { kind: 'server', scope: scopeOf('grpc') } as const;
const CALL = { kind: 'client', scope: scopeOf('grpc') } as const;

const nameOf = (path: unknown): string => String(path).replace(/^\//, '').slice(0, 255);

/** `host:port`, behind the scheme of a resolver. */
const addressOf = (channel: unknown): (string | PropertyValue)[] => {
  const target = (channel as { getTarget(): string }).getTarget();
  const [, named, port] = /^(?:(?:[a-z]+|ipv[46]):\/{0,3})?(\[[^\]]*\]|[^:/]*)(?::(\d+))?$/.exec(target) ?? [];
  const host = named?.replace(/[[\]]/g, '');
  if (host === undefined || host === '') return [];
  return port === undefined ? ['server.address', host] : ['server.address', host, 'server.port', Number(port)];
};

let patched = 0;

const isGrpc = (contentType: unknown): boolean =>
  typeof contentType === 'string' && contentType.startsWith('application/grpc');

/** Whether a stream with this content type in its headers is a call of gRPC that has a span already. */
export const isOfGrpc = (contentType: unknown): boolean => isGrpc(contentType) && patched > 0;

/**
 * Whether somebody else traces this call of gRPC and has given it a context under one of `names`: what waits for a connection is sent in the context of
 * another caller, whose span must not stand between.
 */
export const isOfOthersGrpc = (headers: Readonly<Record<string, unknown>>, names: readonly string[]): boolean =>
  isGrpc(headers['content-type']) && Object.keys(headers).some((key) => names.includes(key.toLowerCase()));

/** Of a call that reached nobody it is the name that was called. */
const addPeerOf = (span: Span, call: WithPeer): void => {
  const [, six, four, port] = /^(?:\[([\da-f:.%]+)\]|([\d.]+)):(\d+)$/i.exec(String(call.getPeer?.())) ?? [];
  if (port !== undefined) addPeer(span, { remoteAddress: six ?? four, remotePort: Number(port) });
};

/** What comes of a call comes in the context of `caller`: its connection is that of many, and what waited for it is sent by the first of them. */
const callBackTo = (caller: Caller, call: OutgoingCall): void => {
  const { start, sendMessageWithContext: sendMessage } = call;
  call.start = function (metadata, listener) {
    const bound: Listener = {
      onReceiveMetadata: boundFor(caller, (received) => listener.onReceiveMetadata(received)),
      onReceiveMessage: boundFor(caller, (message) => listener.onReceiveMessage(message)),
      onReceiveStatus: boundFor(caller, (status) => listener.onReceiveStatus(status)),
    };
    Reflect.apply(start, this, [metadata, Object.assign(Object.create(listener), bound)]);
  };
  call.sendMessageWithContext = function (context, message) {
    const sent = { ...context, callback: boundFor(callerHere(), context.callback) };
    Reflect.apply(sendMessage, this, [sent, message]);
  };
};

/** The waiter for a connection. */
const callingBack = (watch: Method): Method =>
  function (this: unknown, state, deadline, callback) {
    return Reflect.apply(watch, this, [state, deadline, boundFor(callerHere(), callback)]);
  };

/** @grpc/grpc-js 1. */
export const instrumentGrpc = (options: GrpcOptions, propagator: Propagator): Off => {
  const { ignore, enrich, requireParent = false } = options;
  let isOff = false;

  const end = (span: Span, call: GrpcCall, code: unknown, peer?: WithPeer): void => {
    if (!span.isRecording) return;
    if (peer !== undefined) quiet(addPeerOf)(span, peer);
    const status = CODES[code as number] ?? 'UNKNOWN';
    span.addProperty('rpc.response.status_code', status);
    const isError = call.side === 'client' ? status !== 'OK' : FAULTS_OF_SERVERS.includes(status);
    if (isError) span.addProperty('error.type', status).setStatus('error', status);
    callHook(enrich, span, call);
    span.end();
  };

  const send = (span: Span, about: GrpcCall, call: OutgoingCall): void => {
    const { start } = call;
    call.start = function (metadata, listener) {
      // The caller's own stays as it is.
      const sent = metadata.clone();
      injectSpan(propagator, span, (name, value) => sent.set(name, value));
      const onReceiveStatus = (status: { readonly code: unknown }): void => {
        end(span, about, status.code, call);
        listener.onReceiveStatus(status);
      };
      // Its methods may stand on its prototype.
      Reflect.apply(start, this, [sent, Object.assign(Object.create(listener), { onReceiveStatus })]);
    };
  };

  const create = (original: Method): Method =>
    function (...args) {
      const call = Reflect.apply(original, this, args);
      try {
        callBackTo(callerHere(), call as OutgoingCall);
        const about: GrpcCall = { method: nameOf(args[0]), side: 'client' };
        const span = callPredicate(ignore, about) ? undefined : startCall(about.method, CALL, requireParent);
        if (span?.isRecording === true) {
          span.describe(['rpc.system.name', 'grpc', 'rpc.method', about.method, ...addressOf(this)]);
        }
        if (span !== undefined) send(span, about, call as OutgoingCall);
      } catch {
        count(Counter.instrumentationErrors);
      }
      return call;
    };

  const begin = (method: string, call: ServerCall): Span => {
    const context = propagator.extract(call.metadata.getMap() as Record<string, string>);
    const span = Span.root(method, context, ANSWER);
    if (span.isRecording) {
      span.describe(['rpc.system.name', 'grpc', 'rpc.method', method]);
      quiet(addPeerOf)(span, call);
    }
    return span;
  };

  const answer = (original: Method): Method =>
    function (name, handler, ...rest) {
      if (typeof handler !== 'function') return Reflect.apply(original, this, [name, handler, ...rest]);
      const about: GrpcCall = { method: nameOf(name), side: 'server' };
      const traced = function (this: unknown, call: ServerCall, callback?: Answer): unknown {
        // A handler stays with its server.
        if (isOff) return Reflect.apply(handler, this, [call, callback]);
        if (callPredicate(ignore, about)) {
          emitUnder(IGNORED, call);
          return queueStore.run(IGNORED, () => Reflect.apply(handler, this, [call, callback]) as unknown);
        }
        let span: Span | undefined;
        try {
          span = begin(about.method, call);
        } catch {
          count(Counter.instrumentationErrors);
        }
        if (span === undefined) return Reflect.apply(handler, this, [call, callback]);
        const started = span;
        call.once('cancelled', () => end(started, about, CODES.indexOf('CANCELLED')));
        let last = callback;
        if (callback !== undefined) {
          last = (error, ...more) => {
            end(started, about, error ? (error.code ?? CODES.indexOf('UNKNOWN')) : 0);
            return callback(error, ...more);
          };
        } else {
          call.once('finish', () => end(started, about, call.cancelled ? CODES.indexOf('CANCELLED') : 0));
          call.prependListener('error', ({ code }: { code?: unknown }) => end(started, about, code));
        }
        return started.run(() => {
          const queue = queueStore.getStore();
          if (queue !== undefined) emitUnder(queue, call);
          try {
            return Reflect.apply(handler, this, [call, last]) as unknown;
          } catch (error) {
            end(started, about, CODES.indexOf('UNKNOWN'));
            throw error;
          }
        });
      };
      return Reflect.apply(original, this, [name, traced, ...rest]);
    };

  const off = onModule<Grpc>('@grpc/grpc-js', options.module, ({ Channel, Server }) => {
    patched++;
    return allOff([
      () => void patched--,
      replaceMethod(Channel?.prototype, 'createCall', create),
      replaceMethod(Channel?.prototype, 'watchConnectivityState', callingBack),
      replaceMethod(Server?.prototype, 'register', answer),
    ]);
  });
  return () => {
    isOff = true;
    off();
  };
};
