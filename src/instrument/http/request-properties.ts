// A request that a server answers, and its answer, as properties: the same words for all versions of HTTP.
import type { IncomingHttpHeaders } from 'node:http';
import type { PropertyValue } from '../../rows/property.js';
import type { Span } from '../../span/span.js';
import { forwardedClient, forwardedHost, forwardedScheme } from './forwarded.js';
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

const FIRST_ERROR = 500;

/** Key, value, key, value. */
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
    forwardedScheme(headers) ?? (socket.encrypted === true ? 'https' : 'http'),
    'network.protocol.version',
    httpVersion,
  ];
  if (known !== method) list.push('http.request.method_original', method.slice(0, 64));
  const query = queryOf(url);
  if (query !== '') list.push('url.query', query);
  const host = forwardedHost(headers) ?? headers.host;
  const { 'user-agent': agent } = headers;
  if (host !== undefined) {
    const [name, port] = hostAndPort(host);
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

/** What became of it: no status where nothing was sent, and not whole where the client went away or the connection broke. */
export const addAnswer = (
  span: Span,
  route: string | undefined,
  status: number | undefined,
  isWhole: boolean,
): void => {
  if (route !== undefined) {
    span.addProperty('http.route', route);
    span.rename(`${span.name} ${route}`);
  }
  if (status !== undefined) span.addProperty('http.response.status_code', status);
  if (!isWhole) span.addProperty('error.type', 'aborted');
  else if (status !== undefined && status >= FIRST_ERROR) {
    span.addProperty('error.type', String(status)).setStatus('error');
  }
};
