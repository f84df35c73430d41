// A service that knows nothing of tracing: answers fifty requests of its own, says so, and serves on.
import { createServer, get } from 'node:http';

const server = createServer((_, response) => response.end('yes'));
const port = await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));
const ask = () =>
  new Promise((resolve, reject) => {
    get({ port, path: '/', host: '127.0.0.1' }, (answer) => answer.resume().on('end', resolve)).on('error', reject);
  });
for (let i = 0; i < 50; i++) await ask();
console.log('ready');
