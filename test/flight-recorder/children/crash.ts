// Records a little with a flight recorder whose triggers write files, then ends as it is told to.
import '../../../src/flight-recorder/index.js';
import { configure, Span } from '../../../src/index.js';

const { FLIGHT_DIR = '', FLIGHT_END = '' } = process.env;
configure({ flightRecorder: { triggers: { directory: FLIGHT_DIR, crash: true, signal: 'SIGTERM' } } });
for (let i = 0; i < 3000; i++) Span.root(`request ${i}`).end();
Span.root('open');

setTimeout(() => {
  Span.root('last').end();
  switch (FLIGHT_END) {
    case 'throw':
      throw new Error('it broke');
    case 'reject':
      void Promise.reject(new Error('it was rejected'));
      break;
    case 'exit':
      process.exit(3);
      break;
    case 'signal':
      process.kill(process.pid, 'SIGTERM');
      setTimeout(() => {}, 10_000);
      break;
    default:
      process.exitCode = 0;
  }
}, 20);
