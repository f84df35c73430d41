// Ports of this machine, for servers that tests and benchmarks start.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** A port on which nothing listens. */
export async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** Whether something accepts connections there. */
export async function isListening(port, address = '127.0.0.1') {
  const socket = connect(port, address);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
