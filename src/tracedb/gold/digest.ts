// What a digest is: lower-case hex digits of one length. One image must have one digest, so upper case is refused, never folded.
import { invalidInput } from '../tracedb-error.js';

/** The digest of a commit at which a trace has no result; its id is 0. */
export const MISSING_DIGEST = '';
export const MISSING_ID = 0;

/** Digits of MD5. */
export const DEFAULT_DIGEST_DIGITS = 32;
/** Below, the first digits would be all of it; above, no hash in use has more. */
export const MIN_DIGEST_DIGITS = 8;
export const MAX_DIGEST_DIGITS = 128;

const HEX = /^[0-9a-f]+$/;

/** Throws `ERR_SPANLINE_INVALID_INPUT` unless `digest` is one of `digits` digits; `where` says whose it is. */
export const checkDigest = (digest: unknown, digits: number, where: string): void => {
  if (typeof digest === 'string' && digest.length === digits && HEX.test(digest)) return;
  const shown = typeof digest === 'string' ? JSON.stringify(digest.slice(0, 140)) : typeof digest;
  throw invalidInput(`the digest ${shown} of ${where} must be ${digits} lower-case hex digits`);
};
