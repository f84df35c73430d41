// Records, and fills the heap of its thread until it is over, in the way of FLIGHT_FILL. Prints what it has recorded, at once.
import { writeSync } from 'node:fs';
import '../../../src/flight-recorder/index.js';
import { configure, LocalSpan, Span } from '../../../src/index.js';

const { FLIGHT_DIR = '', FLIGHT_FILL = '' } = process.env;
configure({ flightRecorder: { triggers: { directory: FLIGHT_DIR, heapLimit: true, minIntervalMs: 500 } } });

const say = (text: string): void => void writeSync(1, `${text}\n`);
let n = 0;
const request = (): void => {
  const root = Span.root(`request ${n}`);
  root.run(() => LocalSpan.start('work').end());
  root.end();
  say(`${n++} ${Date.now()}`);
};

const kept: unknown[] = [];
const leak = (): void => {
  kept.push(Array.from({ length: 10_000 }, (_, k) => ({ k, text: `${k}` })));
};

const WAYS: Readonly<Record<string, () => void>> = {
  // A little in each turn of the event loop.
  turns: () => {
    setInterval(() => {
      request();
      leak();
    }, 1);
  },
  // Half of it in turns, then all the rest in one piece of work, which is a request.
  'one request': () => {
    const timer = setInterval(() => {
      request();
      leak();
      if (kept.length < 40) return;
      clearInterval(timer);
      const waits = Span.root('waits');
      waits.addProperty('for', 'the culprit');
      const culprit = Span.root('culprit');
      culprit.run(() => {
        LocalSpan.start('outer');
        LocalSpan.start('inner');
        request();
        for (;;) leak();
      });
    }, 1);
  },
  // Without a collection that leaves much of the heap before it.
  'one allocation': () => {
    for (let i = 0; i < 100; i++) request();
    setTimeout(() => kept.push(Array.from(new Float64Array(30_000_000))), 500);
  },
};
WAYS[FLIGHT_FILL]();
