// How an outgoing call ended, as properties and status: the same words for `http` and for `fetch`.
import type { Span } from '../../span/span.js';
import { failureOf } from '../failure.js';

const FIRST_ERROR = 400;

/** An answer came: an error from 400 on, for the client. */
export const addStatus = (span: Span, statusCode: number): void => {
  span.addProperty('http.response.status_code', statusCode);
  if (statusCode >= FIRST_ERROR) span.addProperty('error.type', String(statusCode)).setStatus('error');
};

/** No answer, or not all of it. Nothing of the error but its name and message, which may hold addresses; nothing at all where it was given up. */
export const addFailure = (span: Span, error: unknown): void => {
  const failure = failureOf(error);
  if (failure === undefined) return;
  const { code, name, message } = (Object(failure) ?? {}) as { code?: unknown; name?: unknown; message?: unknown };
  const type = typeof code === 'string' ? code : typeof name === 'string' ? name : '_OTHER';
  span.addProperty('error.type', type).setStatus('error', typeof message === 'string' ? message.slice(0, 512) : type);
};
