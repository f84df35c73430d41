// Answers every way there is, for long: a body read, a call to itself by `http` or by `fetch`. Tells what its memory is. It knows nothing of tracing.
const http = require('node:http');

const PORT = Number(process.env.PORT);
const LEAF = `http://127.0.0.1:${PORT}/leaf`;
const agent = new http.Agent({ keepAlive: true });
const seen = { requests: 0, collected: 0 };
const registry = new FinalizationRegistry(() => {
  seen.collected++;
});

const ask = () =>
  new Promise((resolve, reject) => {
    http.get(LEAF, { agent }, (answer) => answer.resume().on('end', resolve)).on('error', reject);
  });

// What is alive, once three collections in a row have found the same, or ten were made: streams and their timers are let go turn by turn.
const memory = async () => {
  const heaps = [];
  do {
    await new Promise((resolve) => setTimeout(resolve, 20));
    gc();
    heaps.unshift(process.memoryUsage().heapUsed);
  } while (heaps.length < 10 && !(Math.abs(heaps[0] - heaps[1]) < 2000 && Math.abs(heaps[1] - heaps[2]) < 2000));
  return { ...seen, heap: heaps[0], rss: process.memoryUsage().rss };
};

const answer = async (request, response) => {
  if (request.url === '/leaf') return response.end('leaf');
  if (request.url === '/memory') return response.end(JSON.stringify(await memory()));
  seen.requests++;
  registry.register(request);
  let size = 0;
  for await (const chunk of request) size += chunk.length;
  if (seen.requests % 2 === 0) await (await fetch(LEAF)).text();
  else await ask();
  response.end(String(size));
};
const server = http.createServer(answer);
// A busy machine may be late with the next request, and one that comes as the connection is closed fails.
server.keepAliveTimeout = 0;
server.listen(PORT, '127.0.0.1', () => console.log('ready'));
