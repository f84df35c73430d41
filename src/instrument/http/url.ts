// Addresses as properties: bounded, without credentials, and without the values of query parameters that sign requests.
import { isIPv6 } from 'node:net';
import { portOf } from '../peer.js';

/** Characters of a path or query that are kept. */
const MAX = 2048;

// OpenTelemetry's list of parameters whose values are secrets.
const SECRET =
  /([?&](?:AWSAccessKeyId|Signature|sig|X-Goog-Signature|X-Amz-(?:Signature|Credential|Security-Token))=)[^&#]*/gi;

const bounded = (text: string): string => (text.length > MAX ? text.slice(0, MAX) : text);

/** The query, with what stands before its first parameter, without secrets. */
export const cleanQuery = (query: string): string =>
  bounded(query.includes('=') ? query.replace(SECRET, '$1REDACTED') : query);

/** The path of a request's target, which may be a whole address. */
export const pathOf = (target: string): string => {
  const end = target.indexOf('?');
  const path = end < 0 ? target : target.slice(0, end);
  if (path.charCodeAt(0) === 0x2f || !URL.canParse(path)) return bounded(path);
  return bounded(new URL(path).pathname);
};

/** The query of a request's target without its question mark; empty when there is none. */
export const queryOf = (target: string): string => {
  const at = target.indexOf('?');
  // The mark stays until the secrets have gone: they are found by what stands before them.
  return at < 0 || at === target.length - 1 ? '' : cleanQuery(target.slice(at)).slice(1);
};

/** Host and port of a `Host` header or an authority; no port where none is named. An IPv6 address has no brackets. */
export const hostAndPort = (authority: string): readonly [host: string, port: number | undefined] => {
  const colon = authority.lastIndexOf(':');
  if (colon < 0) return [bounded(authority), undefined];
  if (authority.charCodeAt(0) === 0x5b) {
    const end = authority.indexOf(']');
    // Colons of its own, inside brackets.
    if (end > 0) return [bounded(authority.slice(1, end)), portOf(authority.slice(end + 1).replace(/^:/, ''))];
  }
  // An IPv6 address alone.
  if (authority.indexOf(':') !== colon) return [bounded(authority), undefined];
  const port = portOf(authority.slice(colon + 1));
  return [bounded(port === undefined ? authority : authority.slice(0, colon)), port];
};

/**
 * The `:authority` of http2 with an IPv6 address in brackets. Node's client leaves them out of the address it connects to, and always names the
 * port, so that `::1:8080` is not an address.
 */
export const inBrackets = (authority: string): string => {
  const colon = authority.lastIndexOf(':');
  const host = authority.slice(0, colon);
  return host.includes(':') && isIPv6(host) ? `[${host}]${authority.slice(colon)}` : authority;
};

const WHOLE = /^([a-z][a-z\d+.-]*:)\/\/(?:[^@/?#]*@)?([^/?#]*)(.*)$/is;

/** A request to `authority` over `protocol`, and its target. */
export type Sent = readonly [protocol: string, authority: string, target: string];

/** A proxy is sent whole addresses: there the server is the one behind it. */
const behindProxy = (sent: Sent): Sent => {
  const [, , target] = sent;
  const whole = target.charCodeAt(0) === 0x2f ? null : WHOLE.exec(target);
  if (whole === null) return sent;
  return [whole[1].toLowerCase(), whole[2], whole[3].startsWith('/') ? whole[3] : `/${whole[3]}`];
};

const serverAt = (protocol: string, authority: string): readonly [host: string, port: number] => {
  const [host, port] = hostAndPort(authority);
  return [host, port ?? (protocol === 'https:' ? 443 : 80)];
};

/** Where a request goes as properties: key, value, key, value. */
export const addressOf = (sent: Sent): (string | number)[] => {
  const [protocol, authority, target] = behindProxy(sent);
  const [host, port] = serverAt(protocol, authority);
  const slash = target.charCodeAt(0) === 0x2f ? '' : '/';
  // `*` is the server itself, and CONNECT has a name.
  const full = cleanQuery(`${protocol}//${authority}${target === '*' ? '' : slash + target}`);
  return ['url.full', full, 'server.address', host, 'server.port', port];
};

/** The server alone: the address as one text takes three times as long. */
export const serverOf = (sent: Sent): readonly [host: string, port: number] => {
  const [protocol, authority] = behindProxy(sent);
  return serverAt(protocol, authority);
};

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', 'QUERY']);

/** The method as spans name it: `_OTHER` for an unknown one, as any client may send any. */
export const knownMethod = (method: string): string => (METHODS.has(method) ? method : '_OTHER');

/** The name of a span: its method, `HTTP` for an unknown one. */
export const nameOf = (method: string): string => (METHODS.has(method) ? method : 'HTTP');
