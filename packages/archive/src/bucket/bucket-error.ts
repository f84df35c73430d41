// The errors of an archive in an object store, and what an answer of a store means: each names the bucket, the key and the remedy. No message may show
// a credential or a signature, and what may pass must be known from what will not.
import { SpanlineError } from 'spanline/internal/base';
import { errorOf } from './s3-xml.js';

/** The stable codes of these errors. */
export type BucketErrorCode =
  /** The address of the archive, or an option, is wrong. */
  | 'ERR_SPANLINE_BUCKET_LOCATION'
  /** There is no such bucket. */
  | 'ERR_SPANLINE_BUCKET_MISSING'
  /** The bucket is in another region, or behind another endpoint. */
  | 'ERR_SPANLINE_BUCKET_ELSEWHERE'
  /** A right is missing, which the message names. */
  | 'ERR_SPANLINE_BUCKET_FORBIDDEN'
  /** There are no credentials. */
  | 'ERR_SPANLINE_BUCKET_NO_CREDENTIALS'
  /** The credentials are not good (any more). */
  | 'ERR_SPANLINE_BUCKET_CREDENTIALS'
  /** The store does not believe the time of a request. */
  | 'ERR_SPANLINE_BUCKET_CLOCK'
  /** No answer, or only that the store is busy, however often it was asked. */
  | 'ERR_SPANLINE_BUCKET_UNAVAILABLE'
  /** Another refusal. */
  | 'ERR_SPANLINE_BUCKET_REFUSED'
  /** The store makes no conditional writes. */
  | 'ERR_SPANLINE_BUCKET_NOT_CONDITIONAL'
  /** An object of the archive is not what was written, or gone. */
  | 'ERR_SPANLINE_BUCKET_DAMAGED'
  /** A newer version of this library wrote the archive. */
  | 'ERR_SPANLINE_BUCKET_VERSION'
  /** An upload is older than what the archive can still tell from one that it has. */
  | 'ERR_SPANLINE_BUCKET_TOO_LATE'
  /** The spool is another process's, or cannot be written. */
  | 'ERR_SPANLINE_BUCKET_SPOOL'
  /** Others were quicker every time. */
  | 'ERR_SPANLINE_BUCKET_CONTENDED'
  /** The caller's signal fired. */
  | 'ERR_SPANLINE_BUCKET_ABORTED';

/** What reading and writing an archive in an object store throws. */
export class BucketError extends SpanlineError<BucketErrorCode> {
  override readonly name = 'BucketError';
}

/** Makes one; `code` without what all have in common. */
export const bucketError = (
  code: BucketErrorCode extends `ERR_SPANLINE_BUCKET_${infer Rest}` ? Rest : never,
  message: string,
  options?: ErrorOptions,
): BucketError => new BucketError(`ERR_SPANLINE_BUCKET_${code}`, message, options);

/** What an error of work is that the caller's signal ended. */
export const abortedBucket = (message: string, options: ErrorOptions): BucketError =>
  bucketError('ABORTED', message, options);

/** What was done, and the right that it needs. */
export interface Deed {
  /** Such as `writing s3://bucket/key`. */
  readonly what: string;
  /** Such as `s3:PutObject`. */
  readonly right: string;
  /**
   * Where what is not there is refused, too, unless its list may be read: whether that may be. Undefined when nobody can say just now.
   */
  readonly mayList?: (() => Promise<boolean | undefined>) | undefined;
}

/** What is wrong with the credentials of a request, by the code of the answer. */
const STALE = new Set([
  'ExpiredToken',
  'TokenRefreshRequired',
  'InvalidToken',
  'InvalidAccessKeyId',
  'ExpiredTokenException',
]);
const PASSING_CODES = new Set([
  'RequestTimeout',
  'ConditionalRequestConflict',
  'OperationAborted',
  'SlowDown',
  'InternalError',
]);

/** Whether credentials that are fetched again may help. */
export const isStale = (code: string): boolean => STALE.has(code);

/** Whether the same request may be answered otherwise a moment later. */
export const mayPass = (status: number, code: string): boolean =>
  status === 408 || status === 429 || (status >= 500 && status !== 501 && status !== 505) || PASSING_CODES.has(code);

/** What a right that is missing may be: a store that does not let its list be read answers what is not there as what may not be read. */
const missingRight = ({ right }: Deed, mayList: boolean | undefined): string => {
  if (mayList !== false) return `these credentials need the right ${right} there`;
  return `there is no such object, or these credentials may not read it: without the right s3:ListBucket on the bucket a store answers both alike; give them that, and ${right} on what is in it`;
};

/**
 * The error of an answer that is neither what was asked for nor something to try again. `mayList`: whether the list of the bucket may be read, of a deed
 * that asks for it.
 */
export const refusalOf = (deed: Deed, status: number, body: Buffer, mayList?: boolean): BucketError => {
  const { what } = deed;
  const { code, message } = errorOf(body);
  const words = [code, message].filter((part) => part !== '').join(': ');
  const answered = `${what}: the store answered ${status}${words === '' ? '' : ` (${words})`}`;
  if (code === 'NoSuchBucket')
    return bucketError('MISSING', `${answered}: there is no such bucket; create it, or correct its name`);
  if (code === 'RequestTimeTooSkewed')
    return bucketError(
      'CLOCK',
      `${answered}: the clock of this machine is wrong, and so was the time that the store named`,
    );
  if (isStale(code) || code === 'SignatureDoesNotMatch' || status === 401)
    return bucketError(
      'CREDENTIALS',
      `${answered}: the credentials are not good there (any more); give others, or correct the region`,
    );
  if (status === 301 || status === 307 || status === 308 || code === 'AuthorizationHeaderMalformed')
    return bucketError(
      'ELSEWHERE',
      `${answered}: the bucket is elsewhere; set its region (AWS_REGION) or endpoint (AWS_ENDPOINT_URL_S3)`,
    );
  if (status === 403) return bucketError('FORBIDDEN', `${answered}: ${missingRight(deed, mayList)}`);
  return bucketError(
    'REFUSED',
    status === 404 ? `${answered}: that is not what an S3 store answers; correct the endpoint` : answered,
  );
};
