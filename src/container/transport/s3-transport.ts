// A graph file in an S3-compatible object store: Range requests, each signed. Secrets must never appear in a message.
import { optionalPackage } from '../../base/calls/optional-package.js';
import { BadOptionsError } from '../graph-error.js';
import type { SignRequest } from './http/http-getter.js';
import { HttpTransport, type HttpTransportOptions } from './http-transport.js';
import { parseS3Location, s3Address } from './s3-location.js';

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

const loadAws4Fetch = (): Promise<typeof import('aws4fetch')> =>
  optionalPackage(
    'aws4fetch',
    'reading from an object store',
    () => import('aws4fetch'),
    (message, options) => new BadOptionsError(message, options),
  );

/**
 * Reads a graph file from an S3-compatible object store.
 *
 * What {@link openTransport} uses for `s3://bucket/key`; it needs the package aws4fetch. Redirects are refused, for a signature is
 * good for one server only: set the region or the endpoint instead.
 *
 * @example
 * ```ts
 * import { S3Transport } from 'spanline/graph';
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
    const { AwsClient } = await loadAws4Fetch();
    const client = new AwsClient({ ...credentials, region, service: 's3', retries: 0 });
    const sign: SignRequest = async (url, headers) => (await client.sign(url, { headers })).headers;
    return new S3Transport(address, options, sign);
  }
}
