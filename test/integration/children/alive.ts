// Uses all of the library and leaves everything open; nothing of it may keep this process alive.

import { EventEmitter } from 'node:events';
import { bindEmitter, configure, LocalCollector, LocalSpan, Span, setReporter, traced, tracePromise } from 'spanline';

const before = process.getActiveResourcesInfo().length;
configure({
  reportIntervalMs: 600_000,
  reportTimeoutMs: 600_000,
  retryMinMs: 600_000,
  retryMaxMs: 600_000,
  exitTimeoutMs: 20,
  reportOpenTraces: true,
});
setReporter([
  { name: 'hangs', report: () => new Promise(() => {}) },
  {
    name: 'fails',
    report: () => {
      throw new Error('down');
    },
  },
]);
const open = Span.root('never ended');
open.run(() => {
  LocalSpan.start('left open');
  void tracePromise('never', new Promise(() => {}));
  void traced('async', () => new Promise(() => {}))();
});
void open.run(() => new Promise(() => {}));
bindEmitter(new EventEmitter(), open).on('x', () => {});
LocalCollector.start();
for (let i = 0; i < 20_000; i++) Span.root('root').end();
console.log(JSON.stringify({ before, kept: process.getActiveResourcesInfo().filter((name) => name === 'Timeout') }));
