// Requests and answers as properties, on both sides: the same words for all versions of HTTP and for `fetch`.
import type { IncomingHttpHeaders } from 'node:http';
import { BoundedCache, getOrMake } from '../../base/maps/maps.js';
import type { PropertyValue } from '../../rows/property.js';
import type { Span } from '../../span/span.js';
import { failureOf, failureType, fieldOf } from '../failure.js';
import { hostAndPort, knownMethod, pathOf, queryOf } from './url.js';

export interface ReceivedRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly httpVersion: string;
}
export interface ReceivingSocket {
  readonly encrypted?: boolean;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

// What proxies say of the request that they were sent, by `Forwarded` (RFC 7239) or `X-Forwarded-*`. Anybody may send any of it: only what looks as
// it should is taken, and it must never throw.

const MAX_FORWARDED = 128;

/** The value of `name` in the first element of `Forwarded` that has it, without its quotes. */
const parameterOf = (forwarded: string, name: 'for' | 'host' | 'proto'): string | undefined => {
  const [, quoted, token] = PARAMETERS[name].exec(forwarded.slice(0, 2048)) ?? [];
  return quoted === undefined ? token : quoted.replace(/\\(.)/g, '$1');
};

const parameter = (name: string): RegExp =>
  new RegExp(String.raw`(?:^|[;,\s])${name}=(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]+))`, 'i');
const PARAMETERS = { for: parameter('for'), host: parameter('host'), proto: parameter('proto') } as const;

/** The first of a list, which the proxy next to the client has written. */
const firstOf = (header: unknown): string | undefined => {
  if (typeof header !== 'string') return undefined;
  const end = header.indexOf(',');
  const first = (end < 0 ? header : header.slice(0, end)).trim();
  return first === '' ? undefined : first;
};

const HEADERS = { for: 'x-forwarded-for', host: 'x-forwarded-host', proto: 'x-forwarded-proto' } as const;

const said = (headers: IncomingHttpHeaders, name: 'for' | 'host' | 'proto'): string | undefined => {
  const { forwarded } = headers;
  return (typeof forwarded === 'string' ? parameterOf(forwarded, name) : undefined) ?? firstOf(headers[HEADERS[name]]);
};

/** The client: an address without its port, or a name that a proxy gave it. */
const forwardedClient = (headers: IncomingHttpHeaders): string | undefined => {
  const client = said(headers, 'for');
  if (client === undefined || client.toLowerCase() === 'unknown') return undefined;
  return hostAndPort(client)[0].slice(0, MAX_FORWARDED);
};

/** The server that it was sent to: a host, perhaps with its port. */
const forwardedHost = (headers: IncomingHttpHeaders): string | undefined =>
  said(headers, 'host')?.slice(0, MAX_FORWARDED);

/** How it was sent to the proxy next to the client. */
const forwardedScheme = (headers: IncomingHttpHeaders): 'http' | 'https' | undefined => {
  const scheme = said(headers, 'proto')?.toLowerCase();
  return scheme === 'http' || scheme === 'https' ? scheme : undefined;
};

// Of the last request: most are sent to one host. Its address is one text then, which nobody has to read through again.
let lastHost = '';
let lastAddress: readonly [host: string, port: number | undefined] = ['', undefined];

const addressOf = (host: string): readonly [host: string, port: number | undefined] => {
  if (host !== lastHost) {
    lastHost = host;
    lastAddress = hostAndPort(host);
  }
  return lastAddress;
};

const FIRST_SERVER_ERROR = 500;

/** How the client has sent it. */
export const schemeOf = (headers: IncomingHttpHeaders, { encrypted }: ReceivingSocket): 'http' | 'https' =>
  forwardedScheme(headers) ?? (encrypted === true ? 'https' : 'http');

/** Of a request that a server answers: key, value, key, value. */
export const requestProperties = (
  { method = '', url = '', headers, httpVersion }: ReceivedRequest,
  socket: ReceivingSocket,
): (string | PropertyValue)[] => {
  const known = knownMethod(method);
  const list: (string | PropertyValue)[] = [
    'http.request.method',
    known,
    'url.path',
    pathOf(url),
    'url.scheme',
    schemeOf(headers, socket),
    'network.protocol.version',
    httpVersion,
  ];
  if (known !== method) list.push('http.request.method_original', method.slice(0, 64));
  const query = queryOf(url);
  if (query !== '') list.push('url.query', query);
  const host = forwardedHost(headers) ?? headers.host;
  const { 'user-agent': agent } = headers;
  if (host !== undefined) {
    const [name, port] = addressOf(host);
    list.push('server.address', name);
    if (port !== undefined) list.push('server.port', port);
  }
  if (agent !== undefined) list.push('user_agent.original', agent.slice(0, 512));
  const { remoteAddress, remotePort } = socket;
  if (remoteAddress !== undefined) {
    list.push('network.peer.address', remoteAddress, 'client.address', forwardedClient(headers) ?? remoteAddress);
    if (remotePort !== undefined) list.push('network.peer.port', remotePort);
  }
  return list;
};

// A text that is put together anew is read through wherever it is looked up or compared: each name is made once.
const names = new BoundedCache<string, BoundedCache<string, string>>(32);
const MAX_ROUTES = 1024;
const MAX_ROUTE_LENGTH = 256;

const nameWith = (name: string, route: string): string => {
  if (route.length > MAX_ROUTE_LENGTH) return `${name} ${route}`;
  // First without the functions that make what is missing: nearly all are known.
  const known = names.get(name)?.get(route);
  if (known !== undefined) return known;
  const ofName = getOrMake(names, name, () => new BoundedCache<string, string>(MAX_ROUTES));
  return getOrMake(ofName, route, () => `${name} ${route}`);
};

/** What became of that request: no status where nothing was sent, and not whole where the client went away or the connection broke. */
export const addAnswer = (
  span: Span,
  route: string | undefined,
  status: number | undefined,
  isWhole: boolean,
): void => {
  if (route !== undefined) {
    span.addProperty('http.route', route);
    span.rename(nameWith(span.name, route));
  }
  if (status !== undefined) span.addProperty('http.response.status_code', status);
  const errorType = answerError(status, isWhole);
  if (errorType === undefined) return;
  span.addProperty('error.type', errorType);
  if (isWhole) span.setStatus('error');
};

/** What an answer failed by: an error from 500 on, for the server. */
export const answerError = (status: number | undefined, isWhole: boolean): string | undefined => {
  if (!isWhole) return 'aborted';
  return status !== undefined && status >= FIRST_SERVER_ERROR ? String(status) : undefined;
};

const FIRST_CLIENT_ERROR = 400;

/** An answer to an outgoing call came: an error from 400 on, for the client. */
export const addStatus = (span: Span, statusCode: number): void => {
  span.addProperty('http.response.status_code', statusCode);
  if (statusCode >= FIRST_CLIENT_ERROR) span.addProperty('error.type', String(statusCode)).setStatus('error');
};

/** What a call failed by that has no answer, or not all of it, and no error that says why. */
export const CUT_OFF = { code: 'aborted', message: 'the answer was cut off' };

/** What a call failed by, as its span has it: no answer, or not all of it, before an answer from 400 on. */
export const callError = (status: number | undefined, error: unknown): string | undefined => {
  const failure = failureOf(error);
  if (failure !== undefined) return failureType(failure);
  return status !== undefined && status >= FIRST_CLIENT_ERROR ? String(status) : undefined;
};

/** No answer, or not all of it. Nothing of the error but its name and message, which may hold addresses; nothing at all where it was given up. */
export const addFailure = (span: Span, error: unknown): void => {
  const failure = failureOf(error);
  if (failure === undefined) return;
  const message = fieldOf(failure, 'message');
  const type = failureType(failure);
  span.addProperty('error.type', type).setStatus('error', typeof message === 'string' ? message.slice(0, 512) : type);
};

// Headers that the program has asked for. None is read that was not named: headers carry credentials.

/** Header name and property key, ready to be looked up. */
export type WantedHeaders = readonly (readonly [header: string, key: string])[];

/** The names in lower case, as Node has them. */
export const wantedHeaders = (side: 'request' | 'response', names: readonly string[] = []): WantedHeaders =>
  names.map((name) => [name.toLowerCase(), `http.${side}.header.${name.toLowerCase()}`]);

/** Add a header that is there, as the list of texts that the convention asks for. */
export const addHeader = (span: Span, key: string, value: unknown): void => {
  if (value !== undefined) span.addProperty(key, (Array.isArray(value) ? value : [value]).map(String));
};
