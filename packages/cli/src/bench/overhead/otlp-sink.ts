// A process of its own that takes traces over OTLP/HTTP and forgets them: what sending costs belongs to what tracing costs, and what receiving
// costs does not. It tells its port, and whenever it is asked how many bytes have come. It ends with whoever started it.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let bytes = 0;

const server = createServer((request, response) => {
  request.on('data', (data: Buffer) => {
    bytes += data.length;
  });
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end());
});

server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', () => process.send?.({ bytes }));
process.on('disconnect', () => process.exit());
