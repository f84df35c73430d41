// Takes whatever is sent to it, in a process of its own: HTTP requests are read and answered 200, datagrams are read.
// Prints both ports on its standard output and ends with its parent, which holds its standard input.
import { createSocket } from 'node:dgram';
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.end());
});
const socket = createSocket({ type: 'udp4', recvBufferSize: 4 << 20 });
socket.on('message', () => {});

await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
await new Promise((resolve) => socket.bind(0, '127.0.0.1', resolve));
process.stdout.write(`${JSON.stringify({ http: server.address().port, udp: socket.address().port })}\n`);
process.stdin.on('end', () => process.exit()).resume();
