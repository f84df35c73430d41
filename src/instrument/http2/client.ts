// Requests that the program sends by `http2`: a span each, from the call to the close of its stream, a part of their metric, and the context in its
// headers, which no channel comes early enough to add to. Events of a stream come in the context of its caller, traced or not.
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import { syncBuiltinESMExports } from 'node:module';
import { promisify } from 'node:util';
import { Counter, count } from '../../rows/counters.js';
import type { Span } from '../../span/span.js';
import { allOff, callHook, callPredicate, type Off, quiet } from '../channel.js';
import { type CallOptions, startCall } from '../client-span.js';
import { isOfGrpc, isOfOthersGrpc } from '../grpc.js';
import { addFailure, addStatus, CUT_OFF } from '../http/request-properties.js';
import { addressOf, inBrackets, knownMethod, nameOf, type Sent } from '../http/url.js';
import { callerHere, emitFor } from '../in-context.js';
import { type MeasuredRequest, measureAnswer, measureRequest } from '../measures.js';
import { addPeer } from '../peer.js';
import { headersOf, injectSpan, type Propagator } from '../propagator.js';
import {
  KnownClasses,
  type Method,
  onCall,
  ownerOf,
  type Prototype,
  prototypeOf,
  replaceMethod,
  SeenClasses,
} from '../replace-method.js';
import { scopeOf } from '../scope.js';

/** Options of what the program asks others. */
export interface Http2ClientOptions extends Omit<CallOptions<OutgoingHttpHeaders>, 'enrich'> {
  /** True: this call is not traced, and no context goes out with it. */
  readonly ignore?: (headers: OutgoingHttpHeaders) => boolean;
  /** Called when the stream is closed, before the span ends. */
  readonly enrich?: (span: Span, stream: ClientHttp2Stream) => void;
}

export interface Http2 {
  connect: Method;
  createServer(): object;
  createSecureServer(): object;
}

/** Names and values by turns, in newer lines of Node. */
type Headers = OutgoingHttpHeaders | readonly string[];

const CALL = { kind: 'client', scope: scopeOf('http2') } as const;
/** Codes of `close` by which a program has had enough: none, NO_ERROR and CANCEL. */
const ENOUGH: readonly unknown[] = [undefined, 0, 8];

const asObject = (headers: Headers): OutgoingHttpHeaders => {
  if (!Array.isArray(headers)) return headers as OutgoingHttpHeaders;
  const object: OutgoingHttpHeaders = {};
  for (let i = 0; i + 1 < headers.length; i += 2) object[String(headers[i]).toLowerCase()] = headers[i + 1] as string;
  return object;
};

const sentTo = ({ sentHeaders }: ClientHttp2Stream): Sent => {
  const { ':scheme': scheme, ':path': path = '/', ':authority': named, host } = sentHeaders;
  return [`${String(scheme)}:`, inBrackets(String(named ?? host ?? '')), String(path)];
};

const methodOf = ({ sentHeaders }: ClientHttp2Stream): string => String(sentHeaders[':method'] ?? 'GET');

const describe = (span: Span, stream: ClientHttp2Stream): void => {
  const method = ['http.request.method', knownMethod(methodOf(stream))];
  span.describe([...method, ...addressOf(sentTo(stream)), 'network.protocol.version', '2']);
};

/** The class of sessions, which is not public: the first one shows it. */
const SESSIONS = new KnownClasses();

/** Traces the requests of every session, from the first `connect` that is seen on. */
export const traceConnections = (http2: Http2, options: Http2ClientOptions, propagator: Propagator): Off => {
  const { ignore, enrich, requireParent = false } = options;
  const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule('node:http');
  const names = headersOf(propagator);

  /** What is called by gRPC has spans of its own. */
  const isLeftOut = (given: OutgoingHttpHeaders): boolean =>
    isOfGrpc(given) || isOfOthersGrpc(given, names) || callPredicate(ignore, given);

  /** A copy. A context that is there already, as in headers that a gateway hands on, is replaced. */
  const withContext = (span: Span, headers: Headers): Headers => {
    const sent = new Map<string, string>();
    injectSpan(propagator, span, (name, value) => {
      validateHeaderName(name);
      validateHeaderValue(name, value);
      sent.set(name.toLowerCase(), value);
    });
    const replaced = new Set([...names, ...sent.keys()]);
    const isReplaced = (name: unknown): boolean => replaced.has(String(name).toLowerCase());
    if (!Array.isArray(headers)) {
      const object = { ...headers } as OutgoingHttpHeaders;
      for (const name of Object.keys(object)) if (isReplaced(name)) delete object[name];
      return Object.assign(object, Object.fromEntries(sent));
    }
    // Which of them are secret stands on the list itself.
    const list = Object.assign([], headers) as string[];
    for (let i = list.length - 2; i >= 0; i -= 2) if (isReplaced(list[i])) list.splice(i, 2);
    list.push(...[...sent].flat());
    return list;
  };

  const given = new WeakSet<object>();
  /** The program gives it up. Node closes streams itself, when their connection is gone, and destroys those that are closed. */
  const giveUp = (stream: ClientHttp2Stream): void => {
    if (!stream.closed && stream.session?.socket.destroyed !== true) given.add(stream);
  };
  // Streams have no public class either.
  const streams = new SeenClasses();
  const watchStreams = (prototype: Prototype): Off =>
    allOff([
      onCall(ownerOf(prototype, 'close'), 'close', (stream: ClientHttp2Stream, [code]) => {
        if (ENOUGH.includes(code)) giveUp(stream);
      }),
      onCall(ownerOf(prototype, '_destroy'), '_destroy', (stream: ClientHttp2Stream, [error]) => {
        if (error === null) giveUp(stream);
      }),
    ]);

  const follow = (stream: ClientHttp2Stream, span: Span | undefined, measured: MeasuredRequest | undefined): void => {
    if (span !== undefined) describe(span, stream);
    streams.patch(prototypeOf(stream), watchStreams);
    let answer: number | undefined;
    const answered = ({ ':status': status }: { ':status'?: number }): void => {
      answer = Number(status);
      if (span === undefined) return;
      addStatus(span, answer);
      addPeer(span, stream.session?.socket ?? {});
    };
    const failureOfStream = (): unknown => {
      const { errored, rstCode } = stream;
      // Streams of a session that failed are cancelled for that reason.
      if (errored !== null && errored !== undefined)
        return errored.name === 'AbortError' ? errored : (errored.cause ?? errored);
      return (answer === undefined || rstCode !== 0) && !given.has(stream) ? CUT_OFF : undefined;
    };
    const ended = (): void => {
      const failure = failureOfStream();
      const outcome = { status: answer, failure, version: '2' };
      if (measured !== undefined) measureAnswer(measured, methodOf(stream), sentTo(stream), outcome, span);
      if (span === undefined) return;
      if (failure !== undefined) addFailure(span, failure);
      callHook(enrich, span, stream);
      span.endForGood();
    };
    stream.once('response', quiet(answered)).once('close', quiet(ended));
  };

  const request = (original: Method): Method =>
    function (headers = {}, ...rest) {
      let span: Span | undefined;
      let measured: MeasuredRequest | undefined;
      let sent = headers;
      try {
        const asked = asObject(headers as Headers);
        if (!isLeftOut(asked)) {
          measured = measureRequest();
          span = startCall(nameOf(String(asked[':method'] ?? 'GET')), CALL, requireParent);
        }
        if (span !== undefined) sent = withContext(span, headers as Headers);
      } catch {
        count(Counter.instrumentationErrors);
      }
      let stream: unknown;
      try {
        stream = Reflect.apply(original, this, [sent, ...rest]);
      } catch (error) {
        if (span?.isRecording === true) {
          addFailure(span, error);
          span.endForGood();
        }
        throw error;
      }
      quiet(emitFor)(callerHere(), stream as ClientHttp2Stream);
      const recording = span?.isRecording === true ? span : undefined;
      if (recording !== undefined || measured !== undefined)
        quiet(follow)(stream as ClientHttp2Stream, recording, measured);
      return stream;
    };

  const asking = SESSIONS.patch((sessions) => replaceMethod(sessions, 'request', request));
  const watch = quiet((session: ClientHttp2Session) => asking.see(prototypeOf(session)));

  const restore = replaceMethod(http2 as unknown as Prototype, 'connect', (connect) => {
    const wrapped: Method = function (...args) {
      const session = Reflect.apply(connect, this, args);
      watch(session as ClientHttp2Session);
      return session;
    };
    const { [promisify.custom]: connectAsync } = connect as Method & { readonly [promisify.custom]: Method };
    const promised = async (...args: unknown[]): Promise<unknown> => {
      const session = await connectAsync(...args);
      watch(session as ClientHttp2Session);
      return session;
    };
    return Object.defineProperty(wrapped, promisify.custom, { value: promised });
  });
  syncBuiltinESMExports();
  return () => {
    restore();
    syncBuiltinESMExports();
    asking.off();
    streams.off();
  };
};
