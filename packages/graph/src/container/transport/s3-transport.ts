// Where an object of an S3-compatible store is. Keys are any text: they must reach the server as they are, never as a path that
// somebody tidies up.

import { BadOptionsError } from '../graph-error.js';
import type { SignRequest } from './http-getter.js';
import { HttpTransport, type HttpTransportOptions } from './http-transport.js';

/** An object's place. */
interface S3Location {
  readonly bucket: string;
  readonly key: string;
}

/** The parts of `s3://bucket/key`. */
export const parseS3Location = (text: string): S3Location => {
  const match = /^s3:\/\/([^/]+)\/(.+)$/s.exec(text);
  if (match === null) throw new BadOptionsError(`${text} is not the address of an object: write s3://bucket/key`);
  const [, bucket, key] = match;
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{1,253}$/.test(bucket)) throw new BadOptionsError(`${bucket} is not a bucket name`);
  if (key.split('/').some((part) => part === '.' || part === '..')) {
    throw new BadOptionsError(`the key ${key} cannot be asked for over HTTP: . and .. vanish from paths`);
  }
  return { bucket, key };
};

const encodeKey = (key: string): string =>
  key
    .split('/')
    .map((part) => encodeURIComponent(part).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`))
    .join('/');

/** The address of an object: at `endpoint` when there is one, else at Amazon's store in `region`. */
export const s3Address = ({ bucket, key }: S3Location, region: string, endpoint: string | undefined): string => {
  if (endpoint !== undefined) {
    if (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint)) {
      throw new BadOptionsError(`the endpoint ${endpoint} is not an http or https address`);
    }
    return `${endpoint.replace(/\/+$/, '')}/${bucket}/${encodeKey(key)}`;
  }
  if (!/^[a-z0-9-]{1,63}$/.test(region)) throw new BadOptionsError(`${region} is not a region`);
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  // A certificate of the store covers one label before its name.
  return bucket.includes('.')
    ? `https://${host}/${bucket}/${encodeKey(key)}`
    : `https://${bucket}.${host}/${encodeKey(key)}`;
};

/** Options of {@link S3Transport}; what is left out comes from the environment, by the names that Amazon's own tools read. */
export interface S3TransportOptions extends HttpTransportOptions {
  /** Default `AWS_ACCESS_KEY_ID`. */
  readonly accessKeyId?: string;
  /** Default `AWS_SECRET_ACCESS_KEY`. */
  readonly secretAccessKey?: string;
  /** Default `AWS_SESSION_TOKEN`, unless the other two are given here. */
  readonly sessionToken?: string;
  /** Default `AWS_REGION`, `AWS_DEFAULT_REGION` or `us-east-1`. */
  readonly region?: string;
  /** Address of a store that is not Amazon's. Default `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`. */
  readonly endpoint?: string;
}

/** Set, and not to nothing. */
const fromEnvironment = (...names: string[]): string | undefined =>
  names.map((name) => process.env[name]).find((value) => value !== undefined && value !== '');

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

const credentialsOf = (options: S3TransportOptions): Credentials => {
  const given = options.accessKeyId !== undefined || options.secretAccessKey !== undefined;
  // Never half from here and half from there.
  const { accessKeyId, secretAccessKey, sessionToken } = given
    ? options
    : {
        accessKeyId: fromEnvironment('AWS_ACCESS_KEY_ID'),
        secretAccessKey: fromEnvironment('AWS_SECRET_ACCESS_KEY'),
        sessionToken: fromEnvironment('AWS_SESSION_TOKEN'),
      };
  if (accessKeyId !== undefined && secretAccessKey !== undefined) return { accessKeyId, secretAccessKey, sessionToken };
  throw new BadOptionsError(
    'reading from an object store needs accessKeyId and secretAccessKey, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment; an object that everybody may read has an https address',
  );
};

/**
 * Reads a graph file from an S3-compatible object store.
 *
 * What {@link openTransport} uses for `s3://bucket/key`; the package aws4fetch signs. Redirects are refused, for a signature is
 * good for one server only: set the region or the endpoint instead.
 *
 * @example
 * ```ts
 * import { S3Transport } from '@spanline/graph';
 * const transport = await S3Transport.open('s3://traces/2026/07.graph', {
 *   accessKeyId: 'id',
 *   secretAccessKey: 'secret',
 *   endpoint: 'http://localhost:9000',
 * });
 * console.assert(transport.name === 'http://localhost:9000/traces/2026/07.graph');
 * await transport.close();
 * ```
 */
export class S3Transport extends HttpTransport {
  private constructor(address: string, options: HttpTransportOptions, sign: SignRequest) {
    super(address, options, sign);
  }

  /** Nothing is asked before the first read. */
  static async open(location: string, options: S3TransportOptions = {}): Promise<S3Transport> {
    const region = options.region ?? fromEnvironment('AWS_REGION', 'AWS_DEFAULT_REGION') ?? 'us-east-1';
    const endpoint = options.endpoint ?? fromEnvironment('AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL');
    const address = s3Address(parseS3Location(location), region, endpoint);
    const credentials = credentialsOf(options);
    const { AwsClient } = await import('aws4fetch');
    const client = new AwsClient({ ...credentials, region, service: 's3', retries: 0 });
    const sign: SignRequest = async (url, headers) => (await client.sign(url, { headers })).headers;
    return new S3Transport(address, options, sign);
  }
}
