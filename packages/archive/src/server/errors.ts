// The bodies of error answers, in the form that the clients of each endpoint read.

import { GraphError } from '@spanline/graph';
import { TraceFormatError } from 'spanline/internal/formats';
import { HttpError, tryLater } from './http-error.js';
import { encodeStatus } from './otlp-answers.js';
import type { ErrorForm } from './route.js';

/** A body with its type. */
export interface Body {
  readonly contentType: string;
  readonly bytes: Uint8Array | string;
}

const json = (value: unknown): Body => ({ contentType: 'application/json', bytes: `${JSON.stringify(value)}\n` });

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
