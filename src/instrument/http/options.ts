// Options of the instrumentation of HTTP, on both sides. Types only.
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Span } from '../../span/span.js';
import type { CallOptions } from '../client-span.js';

/** Of what servers answer. */
export interface HttpServerOptions {
  /** True: neither this request nor what it calls is traced. */
  readonly ignore?: (request: IncomingMessage) => boolean;
  /** Called when the answer is complete, before the span ends. */
  readonly enrich?: (span: Span, request: IncomingMessage, response: ServerResponse) => void;
  /** Headers that become properties `http.request.header.NAME`; none by default. */
  readonly requestHeaders?: readonly string[];
  /** Headers that become properties `http.response.header.NAME`; none by default. */
  readonly responseHeaders?: readonly string[];
}

/** Of what the program asks others. */
export interface HttpClientOptions extends CallOptions<ClientRequest, [response: IncomingMessage | undefined]> {
  /** True: this call is not traced, and no context goes out with it. */
  readonly ignore?: (request: ClientRequest) => boolean;
  readonly requestHeaders?: readonly string[];
  readonly responseHeaders?: readonly string[];
}

/** Of `http` and `https`. */
export interface HttpOptions {
  /** False: incoming requests are not traced. */
  readonly server?: boolean | HttpServerOptions;
  /** False: outgoing requests are not traced. */
  readonly client?: boolean | HttpClientOptions;
}
