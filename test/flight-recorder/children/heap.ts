// Records, and fills the heap until it is over.
import '../../../src/flight-recorder/index.js';
import { configure, Span } from '../../../src/index.js';

const { FLIGHT_DIR = '' } = process.env;
configure({ flightRecorder: { triggers: { directory: FLIGHT_DIR, heapLimit: true } } });
let n = 0;
const kept: unknown[] = [];
setInterval(() => {
  for (let i = 0; i < 100; i++) Span.root(`request ${n++}`).end();
  // The last time all at once: nothing but native code runs from then on.
  const most = kept.length > 40 ? 1e9 : 1;
  for (let i = 0; i < most; i++) kept.push(Array.from({ length: 10_000 }, (_, k) => ({ k, text: `${k}` })));
}, 10);
