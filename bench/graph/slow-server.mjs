// node slow-server.mjs FILE LATENCY_MS: serves one file by ranges, each answer so much later, in a process of its own that ends with its
// parent. It counts requests, and round trips: how many answers had to be there before the next request, one after the other.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [path, latency] = process.argv.slice(2);
const file = readFileSync(path);
let requests = 0;
let bytes = 0;
/** Round trips that were over with the latest answer. */
let answered = 0;

const rangeOf = (header) => {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (first === undefined) return undefined;
  if (first === '') return [Math.max(0, file.length - Number(last)), file.length - 1];
  return [Number(first), last === '' ? file.length - 1 : Math.min(file.length - 1, Number(last))];
};

const server = createServer((request, response) => {
  requests++;
  const trip = answered + 1;
  setTimeout(() => {
    answered = Math.max(answered, trip);
    const range = rangeOf(request.headers.range);
    if (range === undefined) {
      response.writeHead(400).end();
      return;
    }
    const part = file.subarray(range[0], range[1] + 1);
    bytes += part.length;
    response.writeHead(206, {
      'content-length': part.length,
      'content-range': `bytes ${range[0]}-${range[1]}/${file.length}`,
      etag: '"one"',
    });
    response.end(part);
  }, Number(latency));
});

process.on('message', () => {
  process.send({ requests, roundTrips: answered, bytes });
  requests = 0;
  bytes = 0;
  answered = 0;
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
