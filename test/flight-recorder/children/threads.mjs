// A service that knows nothing of tracing, with a worker thread; each answers requests of its own, says what its recorder holds, and ends.
import { createServer, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { stats } from 'spanline';

const server = createServer((_, response) => response.end('yes'));
const port = await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));
const ask = () =>
  new Promise((resolve, reject) => {
    get({ port, path: '/', host: '127.0.0.1' }, (answer) => answer.resume().on('end', resolve)).on('error', reject);
  });
for (let i = 0; i < 20; i++) await ask();
await sleep(1500);
server.close();
const isRecording = stats().flightRecorder !== undefined;

if (isMainThread) {
  console.log('main thread', isRecording);
  const worker = new Worker(fileURLToPath(import.meta.url));
  worker.on('message', (text) => console.log(text));
  await new Promise((resolve) => worker.on('exit', resolve));
  process.exit(0);
} else {
  parentPort.postMessage(`worker ${isRecording}`);
}
