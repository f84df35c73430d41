// OTLP's numbers for kinds and status codes. Numbers of a later version are read as "unspecified" and "unset".
import type { ArchivedKind, ArchivedStatusCode } from '../archived-span.js';

/** By number. */
export const KINDS: readonly ArchivedKind[] = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
export const STATUS_CODES: readonly ArchivedStatusCode[] = ['unset', 'ok', 'error'];

export const kindOf = (number: number): ArchivedKind => KINDS[number] ?? 'unspecified';
export const statusCodeOf = (number: number): ArchivedStatusCode => STATUS_CODES[number] ?? 'unset';
