// The other end of a connection: as sockets show it, which of the servers behind a name it was, and its port as options name it.
import type { Span } from '../span/span.js';

/** Nothing for a socket of this machine, or one that is gone. */
export interface Peer {
  readonly remoteAddress?: unknown;
  readonly remotePort?: unknown;
}

export const addPeer = (span: Span, { remoteAddress, remotePort }: Peer): void => {
  if (typeof remoteAddress !== 'string') return;
  span.addProperty('network.peer.address', remoteAddress);
  if (typeof remotePort === 'number') span.addProperty('network.peer.port', remotePort);
};

/** Options of clients name a port as a number, or as the text of an environment variable; undefined for what is none. */
export const portOf = (given: unknown): number | undefined => {
  const port = typeof given === 'string' ? Number(given) : given;
  return typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
};
