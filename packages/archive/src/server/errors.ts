// The bodies of answers and of refusals in the form that the clients of each endpoint read: JSON, or the messages of OTLP in
// protobuf, ExportTraceServiceResponse and google.rpc.Status. Which error has which status is decided here.
import { GraphError } from '@spanline/graph';
import { ByteWriter } from 'spanline/internal/base';
import { TraceFormatError } from 'spanline/internal/formats';
import { HttpError, tryLater } from './http-error.js';

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

/** google.rpc.Status with a message only: OTLP does not use its code. */
const encodeStatus = (message: string): Buffer => field(2, Buffer.from(message));

/** A body with its type. */
export interface Body {
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
      return { contentType: requestType, bytes: encodeStatus(message) };
  }
};

/** What a failure is to the client. A bug of ours is told apart: its words are not for strangers. */
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
