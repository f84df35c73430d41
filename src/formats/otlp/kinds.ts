// OTLP's numbers for kinds and status codes. A number of a later version is refused, for it would leave as another.
import type { ArchivedKind, ArchivedStatusCode } from '../../record/archived-span.js';
import type { DecodeContext } from '../decode-context.js';

/** By name. */
export const KIND_NUMBERS: Readonly<Record<ArchivedKind, number>> = {
  unspecified: 0,
  internal: 1,
  server: 2,
  client: 3,
  producer: 4,
  consumer: 5,
};
export const STATUS_NUMBERS: Readonly<Record<ArchivedStatusCode, number>> = { unset: 0, ok: 1, error: 2 };

/** By number. */
export const KINDS = Object.keys(KIND_NUMBERS) as readonly ArchivedKind[];
export const STATUS_CODES = Object.keys(STATUS_NUMBERS) as readonly ArchivedStatusCode[];

/** The kind of a number; a span of one that there is not is refused. */
export const kindOf = (number: number, context: DecodeContext): ArchivedKind => {
  if (KINDS[number] === undefined) context.flaw('unknown kind');
  return KINDS[number] ?? 'unspecified';
};

export const statusCodeOf = (number: number, context: DecodeContext): ArchivedStatusCode => {
  if (STATUS_CODES[number] === undefined) context.flaw('unknown status code');
  return STATUS_CODES[number] ?? 'unset';
};
