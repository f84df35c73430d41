// Records with a flight recorder whose triggers write files, then ends, or goes on, in the way of FLIGHT_END. Prints what it sees of itself.
import { readdirSync, writeSync } from 'node:fs';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import '../../../src/flight-recorder/index.js';
import type { TriggerOptions } from '../../../src/flight-recorder/index.js';
import { configure, defaultCollector, flushOnSignals, Span, setReporter, stats } from '../../../src/index.js';

const { FLIGHT_DIR = '', FLIGHT_END = '' } = process.env;

const say = (text: string): void => void writeSync(1, `${text}\n`);
const fail = (text: string): void =>
  void setImmediate(() => {
    throw new Error(text);
  });
const send = (signal: NodeJS.Signals): void => void process.kill(process.pid, signal);
const busy = (ms: number): void => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};
const files = (): string[] => readdirSync(FLIGHT_DIR);
const wait = (): NodeJS.Timeout => setInterval(() => {}, 1000);

const record = (triggers: TriggerOptions, count = 6000): void => {
  configure({ flightRecorder: { triggers: { directory: FLIGHT_DIR, ...triggers } } });
  for (let i = 0; i < count; i++) Span.root(`request ${i}`).end();
};
/** Until so many files are there, however busy the machine is. */
const written = async (count: number): Promise<void> => {
  while ((stats().flightRecorder?.snapshots ?? 0) < count) await sleep(5);
};

/** Delivers late, as one over the network. */
const deliverLate = (): void =>
  setReporter({
    name: 'late',
    async report({ spanCount }) {
      await sleep(50);
      say(`delivered ${spanCount}`);
    },
  });

const WAYS: Readonly<Record<string, () => unknown>> = {
  'SIGTERM handled once before': () => {
    process.once('SIGTERM', () => {
      setTimeout(() => {
        say('closed');
        process.exit(7);
      }, 100);
    });
    record({ signal: 'SIGTERM' });
    wait();
    send('SIGTERM');
  },
  'SIGTERM and an exit at once': () => {
    record({ signal: 'SIGTERM' });
    process.on('SIGTERM', () => process.exit(0));
    wait();
    send('SIGTERM');
  },
  'SIGTERM flushed before': () => {
    deliverLate();
    flushOnSignals(defaultCollector());
    record({ signal: 'SIGTERM' });
    wait();
    send('SIGTERM');
  },
  'SIGTERM flushed behind': () => {
    deliverLate();
    record({ signal: 'SIGTERM' });
    flushOnSignals(defaultCollector());
    wait();
    send('SIGTERM');
  },
  'SIGALRM unheard': () => {
    record({ signal: 'SIGALRM' });
    wait();
    send('SIGALRM');
  },
  'SIGUSR2 twice': async () => {
    // Of some length, so that writing it takes many turns.
    record({ signal: 'SIGUSR2' }, 30_000);
    const timer = wait();
    for (let n = 1; n <= 2; n++) {
      send('SIGUSR2');
      let halves = 0;
      while (files().filter((name) => name.endsWith('.flight')).length < n) {
        if (files().some((name) => name.endsWith('.tmp'))) halves++;
        await turn();
      }
      say(halves > 3 ? 'went on meanwhile' : 'stood still');
      await sleep(20);
    }
    clearInterval(timer);
  },
  'exceptions taken, exit 3': async () => {
    process.on('uncaughtException', () => {});
    record({ crash: true });
    for (let i = 0; i < 5; i++) {
      fail(`it broke ${i}`);
      await sleep(20);
    }
    await written(1);
    const { snapshots, triggersSkipped, failed } = stats().flightRecorder ?? {};
    say(JSON.stringify({ snapshots, triggersSkipped, failed }));
    process.exit(3);
  },
  'exception taken, then one that is not': async () => {
    const take = (): void => {};
    process.on('uncaughtException', take);
    record({ crash: true });
    fail('it was taken');
    await written(1);
    process.off('uncaughtException', take);
    fail('it was not');
  },
  'exception taken, then exit for the next': async () => {
    let taken = 0;
    process.on('uncaughtException', () => (taken++ === 0 ? undefined : process.exit(1)));
    record({ crash: true });
    fail('the first');
    await written(1);
    fail('the next');
  },
  'exit for an exception': () => {
    process.on('uncaughtException', () => process.exit(1));
    record({ crash: true });
    fail('the only one');
  },
  'exception thrown again': () => {
    process.on('uncaughtException', (error) => {
      throw error;
    });
    record({ crash: true });
    fail('again');
  },
  'exception captured': async () => {
    process.setUncaughtExceptionCaptureCallback(() => {});
    record({ crash: true });
    fail('captured');
    await sleep(300);
  },
  'rejection heard': async () => {
    process.on('unhandledRejection', (reason) => say(`heard ${String(reason)}`));
    record({ crash: true });
    void Promise.reject(new Error('rejected'));
    await sleep(300);
  },
  rejection: async () => {
    record({ crash: true });
    void Promise.reject(new Error('rejected'));
    await sleep(300);
  },
  stall: async () => {
    const count = (): number => stats().flightRecorder?.snapshots ?? 0;
    record({ stallMs: 700, minIntervalMs: 1 });
    // Recording that many may have been a stall by itself.
    await sleep(1500);
    const before = count();
    // Over a moment at which the timeline is looked at, so that the stretch is seen while it goes on and once more when it is over.
    busy(1200);
    await sleep(1500);
    busy(300);
    await sleep(1500);
    say(String(count() - before));
  },
  'rejection after it was switched off': async () => {
    record({ crash: true });
    configure({ flightRecorder: false });
    say(Object.hasOwn(process, 'emit') ? 'emit is still ours' : 'emit is its own');
    void Promise.reject(new Error('rejected'));
  },
};
await WAYS[FLIGHT_END]();
