// Ends in the way of its first argument with five traces finished and not yet reported; prints how many were delivered.
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Collector,
  configure,
  defaultCollector,
  flushOnSignals,
  type ReportBatch,
  type Reporter,
  Span,
  setReporter,
} from 'spanline';

const [how, kind] = process.argv.slice(2);
let delivered = 0;
const take = (batch: ReportBatch): void => {
  delivered += batch.spanCount;
};
const print = (): void => void writeSync(1, `${JSON.stringify({ delivered })}\n`);

const REPORTERS: Record<string, Reporter> = {
  // Works synchronously, and says so.
  sync: { name: 'sync', report: take, reportSync: take },
  // Works synchronously without saying so.
  plain: { name: 'plain', report: take },
  async: {
    name: 'async',
    async report(batch) {
      await sleep(5);
      take(batch);
    },
  },
  hangs: { name: 'hangs', report: () => new Promise(() => {}) },
  fails: {
    name: 'fails',
    report() {
      throw new Error('down');
    },
  },
};

// Nothing waits so long but a reporter that never answers: what delivers has the time it needs on a busy machine.
const exitTimeoutMs = kind === 'hangs' || kind === 'fails' ? 50 : 60_000;
configure({ maxBatchSpans: 2, exitTimeoutMs });
setReporter(REPORTERS[kind]);
process.on('exit', print);
for (let i = 0; i < 5; i++) Span.root('root').end();

const WAYS: Record<string, () => void> = {
  empty() {},
  exit: () => process.exit(3),
  'exit later': () => void setTimeout(() => process.exit(3), 1),
  throws: () =>
    void setTimeout(() => {
      throw new Error('uncaught');
    }, 1),
  rejects: () => void Promise.reject(new Error('unhandled')),
  signal: () => {
    setInterval(() => {}, 1000);
    writeSync(1, 'ready\n');
  },
  'emitted signal': () => {
    flushOnSignals(defaultCollector(), ['SIGTERM']);
    // No signal has come: a program that tests its handlers does that.
    process.emit('SIGTERM', 'SIGTERM');
    process.exitCode = 4;
    setTimeout(() => process.emit('SIGTERM', 'SIGTERM'), 5);
  },
  'emitted signal, then a real one': () => {
    WAYS['handled signal']();
    process.emit('SIGTERM', 'SIGTERM');
  },
  'handled signal': () => {
    flushOnSignals(defaultCollector(), ['SIGTERM']);
    // What the exit handler prints does not come when a signal ends the process.
    const { report } = REPORTERS[kind];
    REPORTERS[kind].report = async (batch) => {
      await report(batch);
      print();
    };
    setInterval(() => {}, 1000);
    writeSync(1, 'ready\n');
  },
  'signal handled for two collectors': () => {
    const other = new Collector();
    other.setReporter(REPORTERS[kind]);
    const { report } = REPORTERS[kind];
    REPORTERS[kind].report = async (batch) => {
      await report(batch);
      print();
    };
    Span.root('of the other', undefined, { collector: other }).end();
    flushOnSignals(defaultCollector(), ['SIGTERM']);
    flushOnSignals(other, ['SIGTERM']);
    setInterval(() => {}, 1000);
    writeSync(1, 'ready\n');
  },
  'signal handled by the application too': () => {
    flushOnSignals(defaultCollector(), ['SIGTERM']);
    let signals = 0;
    const handle = (): void => {
      signals++;
      // An orderly end of its own: there is still work to do and to record.
      setTimeout(() => {
        Span.root('last').end();
        clearInterval(server);
        process.exitCode = signals === 1 ? 7 : 8;
      }, 100);
    };
    process.once('SIGTERM', handle);
    const server = setInterval(() => {}, 1000);
    writeSync(1, 'ready\n');
  },
};
WAYS[how]();
