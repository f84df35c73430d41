// Options of the archive's server, checked and completed. A wrong one is refused before anything listens.

import { BadOptionsError } from '@spanline/graph';
import { isLoopback, oneOf, wholeNumber } from 'spanline/internal/base';
import type { ArchiveReader, ArchiveWriter } from './ports.js';

/** Options of {@link createArchiveServer}. */
export interface ArchiveServerOptions {
  /** The archive that is served; the server does not close it. */
  readonly archive: ArchiveReader & ArchiveWriter;
  /** Address to listen on. Default 127.0.0.1; any but this machine's own wants a `token`. */
  readonly host?: string;
  /** Default 16686; 0 takes a free one. */
  readonly port?: number;
  /** Which endpoints: of the query APIs, of OTLP, or both. Default `all`. */
  readonly endpoints?: 'all' | 'query' | 'ingest';
  /** What a request must bring as `Authorization: Bearer`. Default none. */
  readonly token?: string;
  /** Bytes of a request's body, also once inflated. Default 16 MiB. All bodies together take four times that. */
  readonly maxBodyBytes?: number;
  /** Milliseconds for a whole request to arrive. Default 30,000. */
  readonly requestTimeoutMs?: number;
  /** Milliseconds for an answer, until its last byte is taken. Default 60,000. */
  readonly answerTimeoutMs?: number;
  /** Traces in an answer at most. Default 1,500. */
  readonly maxTraces?: number;
  /** Queries answered at a time; others wait. Default 16. */
  readonly maxQueries?: number;
  /** Queries that wait; more are refused for now. Default 256. */
  readonly maxWaitingQueries?: number;
  /** Milliseconds a query waits at most before it is refused for now. Default 10,000. */
  readonly queryWaitMs?: number;
  /** Connections at a time. Default 512. */
  readonly maxConnections?: number;
  /** Further names this server may be asked by where it has no token, such as `host.docker.internal`. Default none. */
  readonly allowedHosts?: readonly string[];
  /** Origins of web pages that may read answers, such as `http://localhost:3000`. Default none. */
  readonly corsOrigins?: readonly string[];
}

const DEFAULTS = {
  host: '127.0.0.1',
  port: 16_686,
  endpoints: 'all',
  token: undefined,
  maxBodyBytes: 16 * 1024 * 1024,
  requestTimeoutMs: 30_000,
  answerTimeoutMs: 60_000,
  maxTraces: 1500,
  maxQueries: 16,
  maxWaitingQueries: 256,
  queryWaitMs: 10_000,
  maxConnections: 512,
  allowedHosts: [] as readonly string[],
  corsOrigins: [] as readonly string[],
} as const;

/** What every server has, whatever it serves; checked. */
type ResolvedHttpOptions = Omit<Required<ArchiveServerOptions>, 'token' | 'archive'> & {
  readonly token?: string;
};

/** Checked. */
export type ResolvedServerOptions = ResolvedHttpOptions & { readonly archive: ArchiveReader & ArchiveWriter };

/** What a number may be. */
const RANGES = {
  port: [0, 65_535],
  maxBodyBytes: [1, 2 ** 30],
  requestTimeoutMs: [1, 2 ** 31 - 1],
  answerTimeoutMs: [1, 2 ** 31 - 1],
  maxTraces: [1, 1_000_000],
  maxQueries: [1, 10_000],
  maxWaitingQueries: [0, 100_000],
  queryWaitMs: [1, 2 ** 31 - 1],
  maxConnections: [1, 1_000_000],
} as const;

const bad = (message: string): BadOptionsError => new BadOptionsError(`the archive's server: ${message}`);

const checkTexts = (name: string, value: unknown): void => {
  if (!Array.isArray(value) || value.some((one) => typeof one !== 'string'))
    throw bad(`${name} must be a list of texts`);
};

/** Origins of browsers' extensions. */
const OTHER_ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@]+$/;

/** What a browser or a client never sends would allow nothing, silently. */
const checkNames = ({ allowedHosts, corsOrigins }: ResolvedHttpOptions): void => {
  for (const host of allowedHosts) {
    const isName = URL.canParse(`http://${host}`) && new URL(`http://${host}`).hostname === host.toLowerCase();
    if (!isName) throw bad(`allowedHosts must be names without ports, not ${JSON.stringify(host)}`);
  }
  for (const origin of corsOrigins) {
    const isWeb = /^https?:/i.test(origin);
    if (isWeb ? !URL.canParse(origin) || new URL(origin).origin !== origin : !OTHER_ORIGIN.test(origin))
      throw bad(`corsOrigins must be origins such as http://localhost:3000, not ${JSON.stringify(origin)}`);
  }
};

const checkToken = ({ token, host }: ResolvedHttpOptions): void => {
  if (token === undefined) {
    if (isLoopback(host)) return;
    throw bad(
      `to listen on ${host} a token is needed, or everyone who reaches this machine reads and writes its traces`,
    );
  }
  // What a header cannot carry could never be sent.
  if (typeof token !== 'string' || !/^[\x21-\x7e]{8,1000}$/.test(token))
    throw bad('the token must be 8 to 1000 characters of ASCII without blanks');
};

/** Check and complete what every server has. Throws a `BadOptionsError`. */
export const resolveHttpOptions = (rest: Omit<ArchiveServerOptions, 'archive'>): ResolvedHttpOptions => {
  const unknown = Object.keys(rest).find((name) => !(name in DEFAULTS));
  if (unknown !== undefined)
    throw bad(`it has no option ${unknown}; its options are ${Object.keys(DEFAULTS).join(', ')}`);
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const resolved: ResolvedHttpOptions = { ...DEFAULTS, ...given };
  for (const [name, [min, max]] of Object.entries(RANGES)) {
    wholeNumber(name, resolved[name as keyof typeof RANGES], [min, max], bad);
  }
  if (typeof resolved.host !== 'string' || resolved.host === '') throw bad('host must be an address or a name');
  oneOf('endpoints', resolved.endpoints, ['all', 'query', 'ingest'], bad);
  checkTexts('allowedHosts', resolved.allowedHosts);
  checkTexts('corsOrigins', resolved.corsOrigins);
  checkNames(resolved);
  checkToken(resolved);
  return { ...resolved, allowedHosts: resolved.allowedHosts.map((host) => host.toLowerCase()) };
};

/** Check and complete. Throws a `BadOptionsError`. */
export const resolveServerOptions = ({ archive, ...rest }: ArchiveServerOptions): ResolvedServerOptions => {
  if (typeof archive?.search !== 'function') throw bad('an archive is needed');
  return { ...resolveHttpOptions(rest), archive };
};
