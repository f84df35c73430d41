// Records for a while with a flight recorder that keeps its rows in files, and is killed while its event loop is blocked.
import '../../../src/flight-recorder/index.js';
import { configure, Span } from '../../../src/index.js';

configure({ flightRecorder: { file: process.env.FLIGHT_DIR ?? '' } });

let requests = 0;
const timer = setInterval(() => {
  for (let i = 0; i < 50; i++) Span.root(`request ${requests++}`).end();
}, 5);
setTimeout(() => {
  clearInterval(timer);
  const before = requests;
  setTimeout(() => {
    process.stdout.write(`${before} before\n`, () => {
      for (let i = 0; i < 1e8; i++);
      process.kill(process.pid, 'SIGKILL');
    });
  }, 300);
}, 600);
