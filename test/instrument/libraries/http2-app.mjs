// A service over HTTP/2 that asks itself once and goes.
import { once } from 'node:events';
import { connect, createServer } from 'node:http2';

const server = createServer((request, response) => response.end(request.headers.traceparent?.length.toString()));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const session = connect(`http://127.0.0.1:${server.address().port}`);
for await (const text of session.request({ ':path': '/' }).setEncoding('utf8')) console.log(text);
session.close();
server.close();
