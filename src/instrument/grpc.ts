// Calls of @grpc/grpc-js, on both sides, as spans and as a part of their metrics. It publishes nothing: the method of a channel that every call starts with is wrapped, and the
// registration of handlers. Neither messages nor metadata nor the text of a status may get into a span.
import type { EventEmitter } from 'node:events';
import { state } from '../context/process-state.js';
import { queueStore } from '../local-span/local-span.js';
import type { LibraryMetrics } from '../metrics/library-metrics.js';
import { Counter, count } from '../rows/counters.js';
import type { PropertyValue } from '../rows/property.js';
import { Span } from '../span/span.js';
import { allOff, callHook, callPredicate, type Off, quiet } from './channel.js';
import { type CallOptions, startCall } from './client-span.js';
import { boundFor, type Caller, callerHere, callingBack, emitUnder } from './in-context.js';
import { measures, measuresOfCall } from './measures.js';
import { type ModuleOptions, onModule } from './on-module.js';
import { IGNORED } from './other-context.js';
import { addPeer, portOf } from './peer.js';
import { extractFrom, injectSpan, type Propagator } from './propagator.js';
import { type Classes, type Method, onCall, onReturn, replaceMethod } from './replace-method.js';
import { scopeOf } from './scope.js';

/** A call as hooks see it. */
export interface GrpcCall {
  /** `package.Service/Method` */
  readonly method: string;
  readonly side: 'client' | 'server';
}

/** Options of the instrumentation `grpc`; `requireParent` is for calls that are sent. */
export interface GrpcOptions extends CallOptions<GrpcCall>, ModuleOptions {}

interface Metadata {
  set(name: string, value: string): void;
  remove(name: string): void;
  getMap(): Record<string, unknown>;
  clone(): Metadata;
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

interface Address {
  readonly address: string | undefined;
  readonly port: number | undefined;
}
const NO_ADDRESS: Address = { address: undefined, port: undefined };

/** `host:port`, behind the scheme of a resolver. */
const addressOf = quiet((channel: unknown): Address => {
  const target = (channel as { getTarget(): string }).getTarget();
  const [, named, port] = /^(?:(?:[a-z]+|ipv[46]):\/{0,3})?(\[[^\]]*\]|[^:/]*)(?::(\d+))?$/.exec(target) ?? [];
  const host = named?.replace(/[[\]]/g, '');
  if (host === undefined || host === '') return NO_ADDRESS;
  return { address: host, port: portOf(port) };
});

const propertiesOf = ({ address, port } = NO_ADDRESS): (string | PropertyValue)[] => {
  if (address === undefined) return [];
  return port === undefined ? ['server.address', address] : ['server.address', address, 'server.port', port];
};

/** A call that is not over: its span, where it has one, and what is measured of it. */
class FollowedCall {
  readonly about: GrpcCall;
  /** Undefined where it is only measured. */
  readonly span: Span | undefined;
  readonly #address: Address;
  readonly #metrics: LibraryMetrics | undefined;
  readonly #begin: number;
  #isOver = false;

  constructor(about: GrpcCall, span: Span | undefined, metrics: LibraryMetrics | undefined, address = NO_ADDRESS) {
    this.about = about;
    this.span = span;
    this.#address = address;
    this.#metrics = metrics;
    this.#begin = metrics?.begin() ?? 0;
  }

  /** Once. */
  measure(status: string, errorType: string | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { side, method } = this.about;
    const call = { side, system: 'grpc', method, ...this.#address };
    this.#metrics?.rpcEnded(this.#begin, call, { status, errorType }, this.span);
  }
}

const isGrpc = (contentType: unknown): boolean =>
  typeof contentType === 'string' && contentType.startsWith('application/grpc');

/** On the headers and the sessions of grpc-js: other gRPC, as of Connect, is a request of HTTP/2 like any. Every copy of this package must find it. */
const OF_GRPC = Symbol.for('spanline.of-grpc');

const mark = quiet((object: object) => void Object.defineProperty(object, OF_GRPC, { value: true }));

/** Whether these are the headers of a call that grpc-js sends and that has a span already, or the session on which it answers such calls. */
export const isOfGrpc = (object: object | undefined): boolean =>
  state.tracedGrpc > 0 && (object as { [OF_GRPC]?: boolean } | undefined)?.[OF_GRPC] === true;

/** The same of a stream with these headers: what is no gRPC is answered by an error. */
export const isAnsweredByGrpc = (session: object | undefined, contentType: unknown): boolean =>
  isGrpc(contentType) && isOfGrpc(session);

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

/** Answers a call by `handler`, which gets what it is to call back. */
type AnswerCall = (
  about: GrpcCall,
  handler: (callback: Answer | undefined) => unknown,
  call: ServerCall,
  callback: Answer | undefined,
) => unknown;

/** A handler stays with its server, by whichever options calls are traced then, or not at all. */
let answerNow: AnswerCall | undefined;

const registering = (original: Method): Method =>
  function (name, handler, ...rest) {
    if (typeof handler !== 'function') return Reflect.apply(original, this, [name, handler, ...rest]);
    const about: GrpcCall = { method: nameOf(name), side: 'server' };
    const traced = function (this: unknown, call: ServerCall, callback?: Answer): unknown {
      const handle = (last: Answer | undefined): unknown => Reflect.apply(handler, this, [call, last]);
      return answerNow === undefined ? handle(callback) : answerNow(about, handle, call, callback);
    };
    return Reflect.apply(original, this, [name, traced, ...rest]);
  };

/** @grpc/grpc-js 1. */
export const instrumentGrpc = (options: GrpcOptions, propagator: Propagator): Off => {
  const { ignore, enrich, requireParent = false } = options;
  let isOff = false;

  const end = (call: FollowedCall, code: unknown, peer?: WithPeer): void => {
    const { about, span } = call;
    const status = CODES[code as number] ?? 'UNKNOWN';
    const isError = about.side === 'client' ? status !== 'OK' : FAULTS_OF_SERVERS.includes(status);
    call.measure(status, isError ? status : undefined);
    if (span?.isRecording !== true) return;
    if (peer !== undefined) quiet(addPeerOf)(span, peer);
    span.addProperty('rpc.response.status_code', status);
    if (isError) span.addProperty('error.type', status).setStatus('error', status);
    callHook(enrich, span, about);
    span.end();
  };
  const endQuietly = quiet(end);

  const beginCall = quiet((about: GrpcCall, channel: unknown): FollowedCall | undefined => {
    if (isOff || callPredicate(ignore, about)) return undefined;
    const metrics = measuresOfCall();
    const span = startCall(about.method, CALL, requireParent);
    if (span === undefined && metrics === undefined) return undefined;
    const address = metrics !== undefined || span?.isRecording === true ? addressOf(channel) : undefined;
    if (span?.isRecording === true)
      span.describe(['rpc.system.name', 'grpc', 'rpc.method', about.method, ...propertiesOf(address)]);
    return new FollowedCall(about, span, metrics, address);
  });

  /** A copy, for the caller's own stays as it is. */
  const withContext = quiet((span: Span, metadata: Metadata): Metadata | undefined => {
    const sent = metadata.clone();
    injectSpan(
      propagator,
      span,
      (name, value) => sent.set(name, value),
      (name) => sent.remove(name),
    );
    return sent;
  });

  /** It begins when it is started, which an interceptor may do late, or never. */
  const follow = (about: GrpcCall, channel: unknown, caller: Caller, call: OutgoingCall): void => {
    const { start } = call;
    const begin = boundFor(caller, beginCall);
    call.start = function (metadata, listener) {
      const followed = begin(about, channel);
      if (followed === undefined) return Reflect.apply(start, this, [metadata, listener]);
      const { span } = followed;
      const sent = span === undefined ? undefined : withContext(span, metadata);
      const onReceiveStatus = (status: { readonly code: unknown }): void => {
        endQuietly(followed, status.code, call);
        listener.onReceiveStatus(status);
      };
      // Its methods may stand on its prototype.
      Reflect.apply(start, this, [sent ?? metadata, Object.assign(Object.create(listener), { onReceiveStatus })]);
    };
  };

  const created = (call: OutgoingCall, channel: unknown, [path]: readonly unknown[]): void => {
    const caller = callerHere();
    callBackTo(caller, call);
    follow({ method: nameOf(path), side: 'client' }, channel, caller, call);
  };

  const begin = (about: GrpcCall, call: ServerCall): { readonly span: Span; readonly followed: FollowedCall } => {
    const { method } = about;
    const metrics = measures();
    const context = extractFrom(propagator, call.metadata.getMap() as Record<string, string>);
    const span = Span.root(method, context, ANSWER);
    if (span.isRecording) {
      span.describe(['rpc.system.name', 'grpc', 'rpc.method', method]);
      quiet(addPeerOf)(span, call);
    }
    return { span, followed: new FollowedCall(about, span, metrics) };
  };

  const answer: AnswerCall = (about, handler, call, callback) => {
    if (callPredicate(ignore, about)) {
      emitUnder(IGNORED, call);
      return queueStore.run(IGNORED, () => handler(callback));
    }
    let begun: ReturnType<typeof begin> | undefined;
    try {
      begun = begin(about, call);
    } catch {
      count(Counter.instrumentationErrors);
    }
    if (begun === undefined) return handler(callback);
    const { span, followed } = begun;
    call.once('cancelled', () => endQuietly(followed, CODES.indexOf('CANCELLED')));
    let last = callback;
    if (callback !== undefined) {
      last = (error, ...more) => {
        endQuietly(followed, error ? (error.code ?? CODES.indexOf('UNKNOWN')) : 0);
        return callback(error, ...more);
      };
    } else {
      call.once('finish', () => endQuietly(followed, call.cancelled ? CODES.indexOf('CANCELLED') : 0));
      call.prependListener('error', ({ code }: { code?: unknown }) => endQuietly(followed, code));
    }
    return span.run(() => {
      const queue = queueStore.getStore();
      if (queue !== undefined) emitUnder(queue, call);
      try {
        return handler(last);
      } catch (error) {
        endQuietly(followed, CODES.indexOf('UNKNOWN'));
        throw error;
      }
    });
  };
  const off = onModule<Classes<'Channel' | 'Server' | 'Metadata'>>(
    '@grpc/grpc-js',
    options.module,
    ({ Channel, Server, Metadata }) => {
      state.tracedGrpc++;
      return allOff([
        () => void state.tracedGrpc--,
        onReturn(Channel?.prototype, 'createCall', created),
        // What waits for a connection.
        replaceMethod(Channel?.prototype, 'watchConnectivityState', callingBack),
        replaceMethod(Server?.prototype, 'register', registering),
        onReturn(Metadata?.prototype, 'toHttp2Headers', (headers: object) => mark(headers)),
        onCall(Server?.prototype, '_setupHandlers', (_, [server]: readonly EventEmitter[]) => {
          server.on('session', mark);
        }),
      ]);
    },
  );
  answerNow = answer;
  return () => {
    isOff = true;
    if (answerNow === answer) answerNow = undefined;
    off();
  };
};
