// A service whose event loop one request has for ever; it is killed from outside.
import '../../../src/flight-recorder/index.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { configure, Span } from '../../../src/index.js';

configure({ flightRecorder: { file: process.env.FLIGHT_DIR ?? '' } });
await sleep(100);
const waiting = Span.root('GET /waits');
const root = Span.root('GET /stuck');
process.stdout.write('stuck\n');
root.run(function spinForEver() {
  for (;;) Math.sqrt(2);
});
waiting.end();
