// Records for a while with a flight recorder that keeps its rows in files, and is killed in the very stretch of work that recorded the last of them.
import '../../../src/flight-recorder/index.js';
import { configure, LocalSpan, Span } from '../../../src/index.js';

configure({ flightRecorder: { file: process.env.FLIGHT_DIR ?? '' } });

let requests = 0;
const record = (): void => {
  const root = Span.root(`GET /${requests % 10}`)
    .addProperty('request', requests++)
    .addProperty('text', `ä${'x'.repeat(requests % 90)}`);
  root.run(() => LocalSpan.start('local').end());
  root.end();
};
const timer = setInterval(() => {
  for (let i = 0; i < 50; i++) record();
}, 5);
setTimeout(() => {
  clearInterval(timer);
  const open = Span.root('GET /stuck');
  const child = Span.start('query', open);
  Span.root('refused').cancel();
  // More than the mapped file has room for.
  for (let i = 0; i < 40_000; i++) record();
  Span.start('ended', open).end();
  process.stdout.write(`${requests} before ${child.context?.traceId}\n`);
  process.kill(process.pid, 'SIGKILL');
}, 600);
