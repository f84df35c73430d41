// Options of what sends OTLP, traces or metrics: checked, completed from OpenTelemetry's environment variables. What is wrong names itself,
// option or variable. Then what sends by them; nothing here opens a connection.
import { OptionError, wrongOption } from '../../base/errors.js';
import { wholeNumber } from '../../base/options/checks.js';
import { checkNames, requireOptions } from '../../collector/options.js';
import { LIBRARY_NAME, LIBRARY_VERSION } from '../../formats/library.js';
import type { TlsOptions } from '../http/send-at-exit.js';
import { HttpSender } from '../http/sender.js';
import { readFailure } from './read-answer.js';

/** Options of `OtlpReporter`. */
export interface OtlpReporterOptions {
  /**
   * Base address; `/v1/traces` is added unless it ends so. Default: OTEL_EXPORTER_OTLP_TRACES_ENDPOINT (used as it is),
   * else OTEL_EXPORTER_OTLP_ENDPOINT, else `http://localhost:4318`.
   */
  readonly endpoint?: string;
  /** Default: OTEL_EXPORTER_OTLP_TRACES_PROTOCOL, else OTEL_EXPORTER_OTLP_PROTOCOL, else `protobuf`. */
  readonly protocol?: 'protobuf' | 'json';
  /** Added to those of OTEL_EXPORTER_OTLP_HEADERS and OTEL_EXPORTER_OTLP_TRACES_HEADERS. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: OTEL_EXPORTER_OTLP_TRACES_COMPRESSION, else OTEL_EXPORTER_OTLP_COMPRESSION, else `none`. */
  readonly compression?: 'none' | 'gzip';
  /** Milliseconds one request may take. Default: OTEL_EXPORTER_OTLP_TRACES_TIMEOUT, else OTEL_EXPORTER_OTLP_TIMEOUT, else 10000. */
  readonly timeoutMs?: number;
  /** Bytes of one request before compression; a span that needs more is left out, counted. Default 4 MiB. */
  readonly maxRequestBytes?: number;
  /** Spans of one request. Default 16384. */
  readonly maxRequestSpans?: number;
  /** Requests in flight at one time. Default 2. */
  readonly concurrency?: number;
  /** Certificates for https. */
  readonly tls?: TlsOptions;
}

/** Options with nothing left open. */
export interface ResolvedOtlpOptions extends Required<Omit<OtlpReporterOptions, 'endpoint' | 'tls'>> {
  /** The whole address. */
  readonly url: string;
  /** What has given it, the option or a variable; empty for the default. */
  readonly endpointName: string;
  readonly tls: TlsOptions | undefined;
}

/** What is sent: its variables are `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` and so on, before those for all signals. */
type Signal = 'TRACES' | 'METRICS';

const PATHS: Readonly<Record<Signal, string>> = { TRACES: '/v1/traces', METRICS: '/v1/metrics' };

const PROTOCOLS: Readonly<Record<string, 'protobuf' | 'json'>> = {
  'http/protobuf': 'protobuf',
  'http/json': 'json',
};

const NUMBERS = {
  timeoutMs: [1, 2 ** 31 - 1],
  maxRequestBytes: [4096, 1 << 30],
  maxRequestSpans: [1, 1 << 24],
  concurrency: [1, 64],
} as const;
const KNOWN = [...Object.keys(NUMBERS), 'endpoint', 'protocol', 'headers', 'compression', 'tls'];

/** A value and what to call it when it is wrong; a default has no name. */
interface Setting {
  readonly name: string;
  readonly value: unknown;
}

/** Where the values are from. */
interface Sources {
  readonly options: OtlpReporterOptions;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: Signal;
}

/** The option, else the variable for the signal, else the one for all signals, else the default. An empty variable counts as not set. */
const pick = (
  { options, env, signal }: Sources,
  option: keyof OtlpReporterOptions,
  variable: string,
  usual: string | number,
): Setting => {
  if (options[option] !== undefined) return { name: `Option "${option}"`, value: options[option] };
  for (const name of [`OTEL_EXPORTER_OTLP_${signal}_${variable}`, `OTEL_EXPORTER_OTLP_${variable}`]) {
    const value = env[name]?.trim();
    if (value) return { name, value };
  }
  return { name: '', value: usual };
};

/** The address that an option or a variable of this name gives; `usual` is an example. */
export const httpUrl = ({ name, value }: Setting, usual: string): URL => {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw wrongOption(`${name} must be an http or https URL such as ${usual}, not ${String(value)}`);
};

const USUAL_ENDPOINT = 'http://localhost:4318';

const resolveEndpoint = (from: Sources): Pick<ResolvedOtlpOptions, 'url' | 'endpointName'> => {
  const path = PATHS[from.signal];
  const found = pick(from, 'endpoint', 'ENDPOINT', USUAL_ENDPOINT);
  const url = httpUrl(found, USUAL_ENDPOINT);
  const isWhole = found.name === `OTEL_EXPORTER_OTLP_${from.signal}_ENDPOINT` || url.pathname.endsWith(path);
  if (!isWhole) url.pathname = url.pathname.replace(/\/+$/, '') + path;
  return { url: url.href, endpointName: found.name };
};

const choice = <T extends string>({ name, value }: Setting, allowed: readonly T[]): T => {
  if (allowed.includes(value as T)) return value as T;
  throw wrongOption(`${name} must be ${allowed.map((one) => `"${one}"`).join(' or ')}, not ${String(value)}`);
};

const resolveProtocol = (from: Sources): 'protobuf' | 'json' => {
  const found = pick(from, 'protocol', 'PROTOCOL', 'http/protobuf');
  if (from.options.protocol !== undefined) return choice(found, ['protobuf', 'json']);
  return PROTOCOLS[choice(found, Object.keys(PROTOCOLS))];
};

const resolveTimeout = (from: Sources): number => {
  const { name, value } = pick(from, 'timeoutMs', 'TIMEOUT', 10_000);
  return wholeNumber(name, typeof value === 'string' ? Number(value) : value, NUMBERS.timeoutMs, wrongOption);
};

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const isHeader = (key: string, value: unknown): boolean =>
  TOKEN.test(key) && typeof value === 'string' && !/[^\t\x20-\x7e\x80-\xff]/.test(value);

/** The option `headers`, names in lower case. */
export const httpHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> => {
  requireOptions(headers, 'headers');
  const out: Record<string, string> = {};
  for (const [key, value] of Object.entries(headers)) {
    if (!isHeader(key, value))
      throw wrongOption(`Option "headers" holds "${key}", whose name or value cannot be sent as an HTTP header`);
    out[key.toLowerCase()] = value;
  }
  return out;
};

/** `key=value,key=value`, percent-encoded, as in W3C Baggage. */
const parseHeaders = (name: string, text: string): Record<string, string> => {
  const out: Record<string, string> = {};
  for (const pair of text.split(',')) {
    if (pair.trim() === '') continue;
    const at = pair.indexOf('=');
    const key = pair.slice(0, at).trim();
    try {
      const value = decodeURIComponent(pair.slice(at + 1).trim());
      if (at < 1 || !isHeader(key, value)) throw new URIError();
      out[key.toLowerCase()] = value;
    } catch {
      // The pair itself stays out of the message: it may be a secret.
      throw new OptionError(`${name} must be key=value pairs with commas between them, percent-encoded.`);
    }
  }
  return out;
};

const resolveHeaders = ({ options, env, signal }: Sources): Record<string, string> => {
  const names = ['OTEL_EXPORTER_OTLP_HEADERS', `OTEL_EXPORTER_OTLP_${signal}_HEADERS`];
  const ofVariables = names.map((name) => parseHeaders(name, env[name] ?? ''));
  return Object.assign({}, ...ofVariables, httpHeaders(options.headers ?? {}));
};

/** Check and complete. Throws {@link OptionError}. */
export const resolveOtlpOptions = (
  options: OtlpReporterOptions,
  env: NodeJS.ProcessEnv = process.env,
  signal: Signal = 'TRACES',
): ResolvedOtlpOptions => {
  checkNames(options, KNOWN);
  const from = { options, env, signal };
  const number = (key: keyof typeof NUMBERS, fallback: number): number =>
    wholeNumber(`Option "${key}"`, options[key] ?? fallback, NUMBERS[key], wrongOption);
  return {
    ...resolveEndpoint(from),
    protocol: resolveProtocol(from),
    headers: resolveHeaders(from),
    compression: choice(pick(from, 'compression', 'COMPRESSION', 'none'), ['none', 'gzip']),
    timeoutMs: resolveTimeout(from),
    maxRequestBytes: number('maxRequestBytes', 4 << 20),
    maxRequestSpans: number('maxRequestSpans', 16_384),
    concurrency: number('concurrency', 2),
    tls: options.tls,
  };
};

/** Where the address is from, and what to set where it is the default: for a message about a collector that does not answer. */
export const endpointOrigin = (endpointName: string, signal: Signal = 'TRACES'): string =>
  endpointName === ''
    ? `That is the default: set OTEL_EXPORTER_OTLP_ENDPOINT to where yours listens, or OTEL_${signal}_EXPORTER=none under register.`
    : `The address is that of ${endpointName.replace(/^O(?=ption )/, 'o')}.`;

/** What sends requests of OTLP, of whatever signal. */
export const otlpSender = (options: ResolvedOtlpOptions, contentType: string): HttpSender => {
  const { url, headers, compression, timeoutMs, concurrency, tls } = options;
  const isZipped = compression === 'gzip';
  return new HttpSender({
    endpoint: url,
    headers: {
      'user-agent': `${LIBRARY_NAME}/${LIBRARY_VERSION}`,
      ...headers,
      'content-type': contentType,
      ...(isZipped ? { 'content-encoding': 'gzip' } : {}),
    },
    timeoutMs,
    maxConnections: concurrency,
    tls,
    isZipped,
    toWords: readFailure,
  });
};
