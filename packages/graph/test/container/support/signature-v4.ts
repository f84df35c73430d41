// Checks the signature of a request as an object store does, from Amazon's description alone: what signs the requests under test has
// no part in it.
import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** A request as it came over the wire. */
export interface SignedRequest {
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** Whom a store knows. */
export interface Account {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly region: string;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Everything but letters, digits and `-._~`, as `%XX`. */
const encode = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) => {
      const sign = String.fromCharCode(byte);
      return /[A-Za-z0-9._~-]/.test(sign) ? sign : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');

/** The key of an object as the store understands a path. */
export const keyOfPath = (path: string): string => decodeURIComponent(path);

const canonicalQuery = (query: string): string =>
  query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name, value = ''] = pair.split('=').map(decodeURIComponent);
      return `${encode(name)}=${encode(value)}`;
    })
    .sort()
    .join('&');

/** What is wrong with a request's signature, by the store's code; undefined when it is right. */
export const signatureFault = (request: SignedRequest, account: Account, now: Date): string | undefined => {
  const { method, url, headers } = request;
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  if (match === null) return 'AuthorizationHeaderMalformed';
  const [, accessKeyId, day, region, signedHeaders, signature] = match;
  if (accessKeyId !== account.accessKeyId) return 'InvalidAccessKeyId';
  if (region !== account.region) return 'AuthorizationHeaderMalformed';
  if (headers['x-amz-security-token'] !== account.sessionToken) return 'InvalidToken';
  const date = String(headers['x-amz-date']);
  const time = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!date.startsWith(day) || !(Math.abs(now.getTime() - time) < 15 * 60_000)) return 'RequestTimeTooSkewed';
  const names = signedHeaders.split(';');
  const mustBeSigned = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))];
  if (!mustBeSigned.every((name) => names.includes(name))) return 'AccessDenied';
  const [path, query = ''] = url.split('?');
  const canonical = [
    method,
    keyOfPath(path).split('/').map(encode).join('/'),
    canonicalQuery(query),
    ...names.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}`),
    '',
    signedHeaders,
    headers['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n');
  const key = [day, region, 's3', 'aws4_request'].reduce(hmac, `AWS4${account.secretAccessKey}` as string | Buffer);
  return hmac(key as Buffer, toSign).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch';
};
