// Options of the instrumentation of HTTP/2, on both sides. Types only.
import type { ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Span } from '../../span/span.js';
import type { CallOptions } from '../client-span.js';

/** Of what servers answer. */
export interface Http2ServerOptions {
  /** True: neither this request nor what it calls is traced. */
  readonly ignore?: (headers: IncomingHttpHeaders, stream: ServerHttp2Stream) => boolean;
  /** Called when the stream is closed, before the span ends. */
  readonly enrich?: (span: Span, headers: IncomingHttpHeaders, stream: ServerHttp2Stream) => void;
}

/** Of what the program asks others. */
export interface Http2ClientOptions extends Omit<CallOptions<OutgoingHttpHeaders>, 'enrich'> {
  /** Called when the stream is closed, before the span ends. */
  readonly enrich?: (span: Span, stream: ClientHttp2Stream) => void;
}

/** Of `http2`. */
export interface Http2Options {
  /** False: incoming requests are not traced. */
  readonly server?: boolean | Http2ServerOptions;
  /** False: outgoing requests are not traced. */
  readonly client?: boolean | Http2ClientOptions;
}
