// Writes answers and refusals in the form that the clients of each endpoint read: JSON, at once or in pieces no faster than the client reads them,
// or the messages of OTLP in protobuf, ExportTraceServiceResponse and google.rpc.Status. Which error has which status is decided here. An answer
// that fails half-way is cut off, never closed as if it were whole.

import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { GraphError } from '@spanline/graph';
import { ByteWriter } from 'spanline/internal/base';
import { TraceFormatError } from '../formats/trace-format-error.js';
import { HttpError, tryLater } from './http-error.js';

/** Characters gathered before a write. */
const PIECE_LENGTH = 64 * 1024;

const HEADERS: OutgoingHttpHeaders = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/** Answer with bytes. */
export const sendBytes = (
  response: ServerResponse,
  status: number,
  contentType: string,
  body: Uint8Array | string,
  headers: OutgoingHttpHeaders = {},
): void => {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  response.writeHead(status, {
    ...HEADERS,
    'content-type': contentType,
    'content-length': bytes.length,
    ...headers,
  });
  response.end(bytes);
};

/** Answer with a value as JSON. */
export const sendJson = (
  response: ServerResponse,
  status: number,
  value: unknown,
  headers?: OutgoingHttpHeaders,
): void => sendBytes(response, status, 'application/json', `${JSON.stringify(value)}\n`, headers);

/** An answer of status 200 that is written in pieces. */
export class JsonStream {
  readonly #response: ServerResponse;
  readonly #signal: AbortSignal;
  #pending = '';

  constructor(response: ServerResponse, signal: AbortSignal) {
    this.#response = response;
    this.#signal = signal;
  }

  /** Write; waits while the client is behind. Throws when it went away or its time is over. */
  async write(text: string): Promise<void> {
    this.#pending += text;
    if (this.#pending.length >= PIECE_LENGTH) await this.#push();
  }

  async end(): Promise<void> {
    await this.#push();
    this.#response.end();
  }

  async #push(): Promise<void> {
    const [response, signal, pending] = [this.#response, this.#signal, this.#pending];
    signal.throwIfAborted();
    this.#pending = '';
    if (!response.headersSent) response.writeHead(200, HEADERS);
    if (!response.write(pending)) await once(response, 'drain', { signal });
  }
}

/** A field of a number, or of bytes, text or a message. */
const field = (number: number, content: number | Uint8Array): Buffer => {
  const writer = new ByteWriter();
  writer.byte((number << 3) | (typeof content === 'number' ? 0 : 2));
  writer.varint(typeof content === 'number' ? content : content.length);
  if (typeof content !== 'number') writer.raw(content);
  return writer.copy();
};

/** A success with a reservation: spans that were not kept, and why. */
export interface PartialSuccess {
  readonly rejectedSpans: number;
  readonly errorMessage: string;
}

/** ExportTraceServiceResponse; without a reservation it is empty. */
export const encodeSuccess = (partial: PartialSuccess | undefined): Buffer => {
  if (partial === undefined) return Buffer.alloc(0);
  return field(1, Buffer.concat([field(1, partial.rejectedSpans), field(2, Buffer.from(partial.errorMessage))]));
};

/** The same in OTLP/JSON, where 64-bit numbers are text. */
export const successJson = (partial: PartialSuccess | undefined): object =>
  partial === undefined
    ? {}
    : { partialSuccess: { rejectedSpans: String(partial.rejectedSpans), errorMessage: partial.errorMessage } };

/** A body with its type. */
interface Body {
  readonly contentType: string;
  readonly bytes: Uint8Array | string;
}

const json = (value: unknown): Body => ({ contentType: 'application/json', bytes: `${JSON.stringify(value)}\n` });

/** In which form an endpoint says what went wrong. */
export type ErrorForm = 'v1' | 'v3' | 'otlp';

/** @param requestType The content type of the request: OTLP answers in the form it was asked. */
export const errorBody = (form: ErrorForm, status: number, message: string, requestType = ''): Body => {
  switch (form) {
    case 'v1':
      return json({ data: null, total: 0, limit: 0, offset: 0, errors: [{ code: status, msg: message }] });
    case 'v3':
      return json({ error: { httpCode: status, message } });
    case 'otlp':
      if (requestType !== 'application/x-protobuf') return json({ message });
      // google.rpc.Status with a message only: OTLP does not use its code.
      return { contentType: requestType, bytes: field(2, Buffer.from(message)) };
  }
};

/** What a failure is to the client. A bug of ours is an answer of its own: its words are not for strangers. */
export const toHttpError = (error: unknown, signal: AbortSignal): HttpError | undefined => {
  if (error instanceof HttpError) return error;
  if (error instanceof TraceFormatError)
    return new HttpError(error.code === 'ERR_SPANLINE_TRACE_TOO_LARGE' ? 413 : 400, error.message);
  if (signal.aborted) return tryLater(503, 'the answer took too long: ask for less, or later');
  if (!(error instanceof GraphError)) return undefined;
  return error.code === 'ERR_SPANLINE_GRAPH_CLOSED' || error.code === 'ERR_SPANLINE_GRAPH_TRANSPORT'
    ? tryLater(503, `the archive cannot answer: ${error.message}`)
    : new HttpError(500, `the archive cannot answer: ${error.message}`);
};
