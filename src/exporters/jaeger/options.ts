// Options of the Jaeger reporter: one set for each protocol, checked and completed. A wrong one throws and names itself.
import { OptionError, wrongOption } from '../../base/errors.js';
import { flag, oneOf, wholeNumber } from '../../base/options/checks.js';
import { requireOptions } from '../../collector/options.js';
import type { TlsOptions } from '../http/send-at-exit.js';
import { httpHeaders, httpUrl, type OtlpReporterOptions } from '../otlp/options.js';

/** OTLP over HTTP to Jaeger's own OTLP port, the default: nothing is lost on this way. */
export type JaegerOtlpOptions = Omit<OtlpReporterOptions, 'protocol'> & { readonly protocol?: 'otlp' };

interface ThriftOptions {
  /** Keep the nanoseconds that Thrift's microseconds cut off, as tags `spanline.ns` and `spanline.duration_ns`; true by default. */
  readonly keepNanoseconds?: boolean;
}

/** Thrift over UDP to a Jaeger agent, in the compact protocol (port 6831) or the binary one (port 6832). */
export interface JaegerUdpOptions extends ThriftOptions {
  readonly protocol: 'thrift-compact-udp' | 'thrift-binary-udp';
  /** Default: JAEGER_AGENT_HOST, else `localhost`. */
  readonly host?: string;
  /** Default: JAEGER_AGENT_PORT, else the protocol's port. */
  readonly port?: number;
  /** Bytes of the largest packet, 512 to 65507; 65,000 by default, which is what an agent reads at most. */
  readonly maxPacketBytes?: number;
}

/** Thrift in the binary protocol, POSTed to a Jaeger collector. */
export interface JaegerHttpOptions extends ThriftOptions {
  readonly protocol: 'thrift-http';
  /** Default: JAEGER_ENDPOINT, else `http://localhost:14268/api/traces`. */
  readonly endpoint?: string;
  /** Added to every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds one request may take; 10,000 by default. */
  readonly timeoutMs?: number;
  /** Bytes of the largest request body; 4 MiB by default. */
  readonly maxRequestBytes?: number;
  /** Certificates for https. */
  readonly tls?: TlsOptions;
}

export type JaegerReporterOptions = JaegerOtlpOptions | JaegerUdpOptions | JaegerHttpOptions;
export type JaegerProtocol = NonNullable<JaegerReporterOptions['protocol']>;

const THRIFT = ['protocol', 'keepNanoseconds'];
const UDP = [...THRIFT, 'host', 'port', 'maxPacketBytes'];
const HTTP = [...THRIFT, 'endpoint', 'headers', 'timeoutMs', 'maxRequestBytes', 'tls'];
/** The options of each protocol; null where another reporter checks. */
const KNOWN: Readonly<Record<JaegerProtocol, readonly string[] | null>> = {
  otlp: null,
  'thrift-compact-udp': UDP,
  'thrift-binary-udp': UDP,
  'thrift-http': HTTP,
};
const ONLY_THRIFT = ['keepNanoseconds', 'host', 'port', 'maxPacketBytes'];

const USUAL_ENDPOINT = 'http://localhost:14268/api/traces';
const UDP_PORT = { 'thrift-compact-udp': 6831, 'thrift-binary-udp': 6832 } as const;

/** The protocol asked for; throws when it, or an option that does not belong to it, is wrong. */
export const checkProtocol = (options: JaegerReporterOptions): JaegerProtocol => {
  requireOptions(options);
  const protocols = Object.keys(KNOWN) as JaegerProtocol[];
  const protocol = oneOf('Option "protocol"', options.protocol ?? 'otlp', protocols, wrongOption);
  const known = KNOWN[protocol];
  for (const key of Object.keys(options)) {
    if (known === null ? !ONLY_THRIFT.includes(key) : known.includes(key)) continue;
    const hint = known === null ? 'it belongs to the Thrift protocols' : `its options are ${known.join(', ')}`;
    throw new OptionError(`Option "${key}" is not one of protocol "${protocol}": ${hint}.`);
  }
  return protocol;
};

export const resolveUdp = (options: JaegerUdpOptions, env: NodeJS.ProcessEnv = process.env) => {
  const { protocol, keepNanoseconds = true, maxPacketBytes = 65_000 } = options;
  const fromEnv = options.port === undefined && Boolean(env.JAEGER_AGENT_PORT);
  const port = fromEnv ? Number(env.JAEGER_AGENT_PORT) : (options.port ?? UDP_PORT[protocol]);
  const host = options.host ?? (env.JAEGER_AGENT_HOST || 'localhost');
  if (typeof host !== 'string' || host === '')
    throw new OptionError(`Option "host" must be a string that is not empty, not ${String(host)}.`);
  return {
    host,
    port: wholeNumber(fromEnv ? 'JAEGER_AGENT_PORT' : 'Option "port"', port, [1, 65_535], wrongOption),
    maxPacketBytes: wholeNumber('Option "maxPacketBytes"', maxPacketBytes, [512, 65_507], wrongOption),
    keepNanoseconds: flag('Option "keepNanoseconds"', keepNanoseconds, wrongOption),
  };
};

export const resolveHttp = (options: JaegerHttpOptions, env: NodeJS.ProcessEnv = process.env) => {
  const { headers = {}, tls, timeoutMs = 10_000, keepNanoseconds = true, maxRequestBytes = 4 << 20 } = options;
  const fromEnv = options.endpoint === undefined && Boolean(env.JAEGER_ENDPOINT);
  const endpoint = fromEnv ? env.JAEGER_ENDPOINT : (options.endpoint ?? USUAL_ENDPOINT);
  return {
    endpoint: httpUrl({ name: fromEnv ? 'JAEGER_ENDPOINT' : 'Option "endpoint"', value: endpoint }, USUAL_ENDPOINT)
      .href,
    headers: httpHeaders(headers),
    tls,
    timeoutMs: wholeNumber('Option "timeoutMs"', timeoutMs, [1, 2 ** 31 - 1], wrongOption),
    maxRequestBytes: wholeNumber('Option "maxRequestBytes"', maxRequestBytes, [512, 1 << 30], wrongOption),
    keepNanoseconds: flag('Option "keepNanoseconds"', keepNanoseconds, wrongOption),
  };
};
