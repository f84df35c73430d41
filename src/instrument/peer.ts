// The other end of a connection, as sockets show it: which of the servers behind a name it was.
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
