// Ten commands of redis for each request, one after another. It knows nothing of tracing.
const { createServer } = require('node:http');
const { createClient } = require('redis');

const COMMANDS = 10;
const client = createClient({ socket: { host: '127.0.0.1', port: Number(process.env.REDIS_PORT) } });

const server = createServer(async (_request, response) => {
  let sum = 0;
  for (let i = 0; i < COMMANDS; i++) sum += Number(await client.get(`count:${i}`));
  const body = JSON.stringify({ sum });
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
});
client.connect().then(() => server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port })));
