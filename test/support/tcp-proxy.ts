// A way to a server that a test can cut, as a network does: between two packets, without a word.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy on a free loopback port. */
export interface TcpProxy {
  /** `address:port`. */
  readonly host: string;
  /** Connections made so far. */
  readonly connections: number;
  /** Cut all connections once the server has sent so many more bytes. New ones get through, unless `forever`. */
  cutAfter(bytes: number, forever?: boolean): void;
  close(): void;
}

/** A proxy to `target`, `address:port`. */
export const startProxy = async (target: string): Promise<TcpProxy> => {
  const [address, port] = target.split(':') as [string, string];
  const sockets = new Set<Socket>();
  let connections = 0;
  let left = Number.POSITIVE_INFINITY;
  let isDown = false;

  const cutAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
    left = Number.POSITIVE_INFINITY;
  };
  const server = createServer((client) => {
    connections++;
    if (isDown) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(Number(port), address);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on('data', (chunk) => {
      left -= chunk.length;
      if (left <= 0) {
        // The part before the cut still arrives.
        client.write(chunk.subarray(0, chunk.length + left), cutAll);
      } else if (!client.write(chunk)) {
        upstream.pause();
        client.once('drain', () => upstream.resume());
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return connections;
    },
    cutAfter: (bytes, forever = false) => {
      left = bytes;
      isDown = forever;
    },
    close: () => {
      server.close();
      cutAll();
    },
  };
};
