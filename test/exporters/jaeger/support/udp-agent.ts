// A Jaeger agent as far as the wire goes: a UDP socket that keeps what it gets.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export interface UdpAgent {
  readonly port: number;
  readonly packets: Buffer[];
  /** Resolves when `isEnough` says so of the packets. The test's own time limit is the only clock. */
  until(isEnough: (packets: readonly Buffer[]) => boolean): Promise<void>;
  close(): Promise<void>;
}

export const startAgent = async (port = 0, host = '127.0.0.1'): Promise<UdpAgent> => {
  const socket = createSocket({ type: host.includes(':') ? 'udp6' : 'udp4', recvBufferSize: 4 << 20 });
  const packets: Buffer[] = [];
  socket.on('message', (packet) => packets.push(packet));
  socket.bind(port, host);
  await once(socket, 'listening');
  return {
    port: socket.address().port,
    packets,
    async until(isEnough) {
      while (!isEnough(packets)) await once(socket, 'message');
    },
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
};

/** A UDP port of this host on which nothing listens. */
export const closedPort = async (): Promise<number> => {
  const agent = await startAgent();
  await agent.close();
  return agent.port;
};
