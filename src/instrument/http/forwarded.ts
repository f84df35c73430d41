// What proxies say of the request that they were sent, by `Forwarded` (RFC 7239) or `X-Forwarded-*`. Anybody may send any of it: only what looks as
// it should is taken, and it must never throw.
import type { IncomingHttpHeaders } from 'node:http';
import { hostAndPort } from './url.js';

const MOST = 128;

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
export const forwardedClient = (headers: IncomingHttpHeaders): string | undefined => {
  const client = said(headers, 'for');
  if (client === undefined || client.toLowerCase() === 'unknown') return undefined;
  return hostAndPort(client)[0].slice(0, MOST);
};

/** The server that it was sent to: a host, perhaps with its port. */
export const forwardedHost = (headers: IncomingHttpHeaders): string | undefined =>
  said(headers, 'host')?.slice(0, MOST);

/** How it was sent. */
export const forwardedScheme = (headers: IncomingHttpHeaders): 'http' | 'https' | undefined => {
  const scheme = said(headers, 'proto')?.toLowerCase();
  return scheme === 'http' || scheme === 'https' ? scheme : undefined;
};
