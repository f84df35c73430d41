// Worker threads with flight recorders of their own beside that of the process, in the way of FLIGHT_WAY. Prints what it sees of itself.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, threadId, Worker } from 'node:worker_threads';
import '../../../src/flight-recorder/index.js';
import { configure, Span, stats } from '../../../src/index.js';

const { FLIGHT_DIR = '', FLIGHT_WAY = '' } = process.env;

const startRecorder = (): void =>
  configure({
    flightRecorder: { triggers: { directory: FLIGHT_DIR, heapLimit: true, crash: true, minIntervalMs: 500 } },
  });
const startWorker = (): Worker =>
  new Worker(fileURLToPath(import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: 60 } });
const record = (): void => {
  for (let i = 0; i < 100; i++) Span.root(`request of thread ${threadId}`).end();
};

const kept: unknown[] = [];
const leak = (): void => {
  kept.push(Array.from({ length: 5000 }, (_, k) => ({ k, text: `${k}` })));
};
/** Files, which are there when the call that filled the heap returns: the recorder counts them up to a fifth of a second later, when it would be full. */
const written = (): number => readdirSync(FLIGHT_DIR).filter((name) => name.endsWith('.flight')).length;

/** Leaks until a file is written and what filled the heap is let go, before Node's own look at it. */
const survive = async (): Promise<void> => {
  const before = written();
  while (written() === before) {
    leak();
    await sleep(1);
  }
  kept.length = 0;
};

interface Way {
  readonly main: () => Promise<void>;
  readonly worker: () => unknown;
}

const WAYS: Readonly<Record<string, Way>> = {
  'full worker': {
    main: async () => {
      const worker = startWorker();
      // Every 200 ms both hand over what they have.
      const [error] = await once(worker, 'error');
      console.log((error as NodeJS.ErrnoException).code);
      record();
      await sleep(300);
      console.log(stats().flightRecorder?.isHeapWatched);
    },
    worker: async () => {
      record();
      await sleep(300);
      setInterval(leak, 1);
    },
  },
  'worker that lives on': {
    main: async () => {
      const worker = startWorker();
      worker.on('message', (text) => console.log(text));
      await once(worker, 'exit');
    },
    worker: async () => {
      record();
      await survive();
      parentPort?.postMessage('once');
      // For a collection, which finds that there is room again, and the interval.
      await sleep(1000);
      for (let i = 0; i < 200; i++) {
        leak();
        kept.length = 0;
        await sleep(1);
      }
      await survive();
      parentPort?.postMessage('twice');
      configure({ flightRecorder: false });
      parentPort?.close();
    },
  },
  'workers that come and go': {
    main: async () => {
      for (let i = 0; i < 12; i++) {
        const worker = startWorker();
        // What a worker says and its end may come in one turn, and where it exits at once the first of them not at all.
        const gone = once(worker, 'exit');
        await Promise.race([once(worker, 'message'), gone]);
        if (i % 3 === 0) await worker.terminate();
        await gone;
      }
      record();
      console.log(stats().flightRecorder?.failed, stats().flightRecorder?.isHeapWatched);
      process.exit(0);
    },
    worker: () => {
      record();
      for (let i = 0; i < threadId % 3; i++) configure({ flightRecorder: i % 2 === 0 ? false : {} });
      parentPort?.postMessage('here');
      if (threadId % 2 === 0) process.exit(0);
      setTimeout(() => parentPort?.close(), 50);
    },
  },
  'exception in a worker': {
    main: async () => {
      const [error] = await once(startWorker(), 'error');
      console.log(String(error));
    },
    worker: () => {
      record();
      setTimeout(() => {
        throw new Error('it broke in a worker');
      });
    },
  },
};
startRecorder();
const way = WAYS[FLIGHT_WAY];
await (isMainThread ? way.main() : way.worker());
if (isMainThread) configure({ flightRecorder: false });
