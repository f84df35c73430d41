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

const memory = async () => {
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    gc();
  }
  return { ...seen, heap: process.memoryUsage().heapUsed, rss: process.memoryUsage().rss };
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
http.createServer(answer).listen(PORT, '127.0.0.1', () => console.log('ready'));
