// OTLP's numbers for kinds and status codes. A number of a later version is refused, for it would leave as another.
import type { ArchivedKind, ArchivedStatusCode } from '../../trace/archived-span.js';
import type { DecodeContext } from '../decode-context.js';

/** By number. */
export const KINDS: readonly ArchivedKind[] = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
export const STATUS_CODES: readonly ArchivedStatusCode[] = ['unset', 'ok', 'error'];

/** The kind of a number; a span of one that there is not is refused. */
export const kindOf = (number: number, context: DecodeContext): ArchivedKind => {
  if (KINDS[number] === undefined) context.flaw('unknown kind');
  return KINDS[number] ?? 'unspecified';
};

export const statusCodeOf = (number: number, context: DecodeContext): ArchivedStatusCode => {
  if (STATUS_CODES[number] === undefined) context.flaw('unknown status code');
  return STATUS_CODES[number] ?? 'unset';
};
