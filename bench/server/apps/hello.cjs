// The smallest service: a small JSON for every request. It knows nothing of tracing.
const { createServer } = require('node:http');

const BODY = JSON.stringify({ hello: 'world' });
const HEAD = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(BODY) };

const server = createServer((_request, response) => {
  response.writeHead(200, HEAD);
  response.end(BODY);
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
