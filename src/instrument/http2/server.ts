// Requests that `http2` servers answer: a root span each, and a part of their metrics, from the start of the stream to its close. By Node's channel,
// which newer lines have; in others by the event of the server, until the channel is heard once.
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { queueStore, type SpanQueue } from '../../local-span/local-span.js';
import { Span } from '../../span/span.js';
import { allOff, callHook, callPredicate, type Off, onMessage, quiet } from '../channel.js';
import { isAnsweredByGrpc } from '../grpc.js';
import { requestProperties, schemeOf } from '../http/request-properties.js';
import { MEASURED, noteAnswer, type RequestWithSpan, SPAN } from '../http/request-span.js';
import { inBrackets, knownMethod, nameOf } from '../http/url.js';
import { emitUnder } from '../in-context.js';
import { measures } from '../measures.js';
import { IGNORED } from '../other-context.js';
import { carriedBy, extractFrom, type IncomingHeaders, type Propagator } from '../propagator.js';
import { type Prototype, replaceMethod } from '../replace-method.js';
import { scopeOf } from '../scope.js';
import type { Http2 } from './client.js';

/** Options of what servers answer. */
export interface Http2ServerOptions {
  /** True: neither this request nor what it calls is traced. */
  readonly ignore?: (headers: IncomingHttpHeaders, stream: ServerHttp2Stream) => boolean;
  /** Called when the stream is closed, before the span ends. */
  readonly enrich?: (span: Span, headers: IncomingHttpHeaders, stream: ServerHttp2Stream) => void;
}

type Traced = ServerHttp2Stream & RequestWithSpan;

const ANSWER = { kind: 'server', scope: scopeOf('http2') } as const;

const describe = (span: Span, headers: IncomingHttpHeaders, stream: Traced): void => {
  const { ':method': method, ':path': url, ':authority': authority } = headers;
  const named = authority === undefined ? headers : { ...headers, host: inBrackets(authority) };
  span.describe(requestProperties({ method, url, headers: named, httpVersion: '2' }, stream.session?.socket ?? {}));
};

const statusOf = ({ headersSent, sentHeaders }: Traced): number | undefined => {
  const status = headersSent ? Number(sentHeaders?.[':status']) : Number.NaN;
  return Number.isInteger(status) ? status : undefined;
};

/** What hears streams begin. */
export interface Streams {
  /** In lines of Node without a channel. */
  watch(http2: Http2): Off;
  off(): void;
}

/** Traces requests until it is taken back. */
export const traceStreams = (options: Http2ServerOptions, propagator: Propagator): Streams => {
  const { ignore, enrich } = options;
  let isPublished = false;

  const end = (span: Span, headers: IncomingHttpHeaders, stream: Traced): void => {
    stream[SPAN] = undefined;
    noteAnswer(stream, span, {
      status: statusOf(stream),
      isWhole: !stream.aborted && stream.rstCode === 0,
      version: '2',
    });
    if (span.isRecording) callHook(enrich, span, headers, stream);
    span.endForGood();
  };

  /** What it is answered under is current behind it. */
  const begin = (stream: Traced, headers: IncomingHttpHeaders): void => {
    // Pushed streams have even numbers, and belong to a request.
    if (Number(stream.id) % 2 === 0 || isAnsweredByGrpc(stream.session, headers['content-type'])) return;
    if (callPredicate(ignore && ((given: IncomingHttpHeaders) => ignore(given, stream)), headers)) {
      queueStore.enter(IGNORED);
      emitUnder(IGNORED, stream);
      return;
    }
    const incoming = headers as IncomingHeaders;
    const span = Span.root(nameOf(headers[':method'] ?? ''), extractFrom(propagator, incoming), ANSWER);
    const metrics = measures();
    if (span !== Span.noop()) emitUnder(span.enterForGood(carriedBy(propagator, incoming)), stream);
    else if (metrics === undefined) return;
    if (metrics !== undefined) {
      const scheme = schemeOf(headers, stream.session?.socket ?? {});
      stream[MEASURED] = metrics.serverBegan(knownMethod(headers[':method'] ?? ''), scheme);
    }
    stream[SPAN] = span;
    if (span.isRecording) describe(span, headers, stream);
    stream.once(
      'close',
      quiet(() => end(span, headers, stream)),
    );
  };

  const started = quiet(begin);

  const emitTraced = (original: (...args: unknown[]) => unknown) =>
    function (this: unknown, ...args: unknown[]): unknown {
      const [name, stream, headers] = args;
      if (name !== 'stream' || isPublished) return Reflect.apply(original, this, args);
      const outer = queueStore.getStore();
      started(stream as Traced, headers as IncomingHttpHeaders);
      try {
        return Reflect.apply(original, this, args);
      } finally {
        queueStore.enter(outer as SpanQueue);
      }
    };

  const off = onMessage<{ stream: Traced; headers: IncomingHttpHeaders }>(
    'http2.server.stream.start',
    ({ stream, headers }) => {
      isPublished = true;
      begin(stream, headers);
    },
  );

  return {
    watch: (http2) =>
      allOff(
        [http2.createServer(), http2.createSecureServer()].map((server) =>
          replaceMethod(Object.getPrototypeOf(server) as Prototype, 'emit', emitTraced),
        ),
      ),
    off,
  };
};
