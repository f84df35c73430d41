// However a process ends, it loses at most what the bound says: synchronous reporters lose nothing but to a signal, others
// at most what finished since their last report; and no reporter holds an exit back beyond the bound.
import { describe, expect, test } from 'vitest';
import { resultOf, runChild } from '../support/child.js';
import { sampleOf } from '../support/samples.js';

describe('the event loop runs empty', () => {
  test.each(['sync', 'plain', 'async'])('%s: all delivered', async (kind) => {
    const child = await runChild('exit', { args: ['empty', kind] });
    expect([child.code, resultOf(child)]).toEqual([0, { delivered: 5 }]);
  });
  test.each(['hangs', 'fails'])('%s: the process ends all the same', async (kind) => {
    const child = await runChild('exit', { args: ['empty', kind] });
    expect([child.code, resultOf(child), child.stderr]).toEqual([0, { delivered: 0 }, '']);
  });
});

const ENDS: readonly (readonly [how: string, code: number])[] = [
  ['throws', 1],
  ['exit', 3],
  ['exit later', 3],
  ['rejects', 1],
];
describe.each(sampleOf(ENDS, 1, ENDS.length))('process ends by: %s', (how, code) => {
  test.each([
    ['sync', 5],
    ['plain', 5],
    ['async', 0],
    ['hangs', 0],
    ['fails', 0],
  ])('%s delivers %i', async (kind, delivered) => {
    const child = await runChild('exit', { args: [how, kind] });
    expect([child.code, resultOf(child)]).toEqual([code, { delivered }]);
    if (code === 1) expect(child.stderr).toMatch(/uncaught|unhandled/);
  });
});

describe('SIGTERM', () => {
  test('without a handler ends the process at once: what was not reported is lost', async () => {
    const child = await runChild('exit', { args: ['signal', 'sync'], signalWhenReady: 'SIGTERM' });
    expect([child.signal, child.stdout]).toEqual(['SIGTERM', 'ready\n']);
  });
  test('flushOnSignals delivers, and the process still ends by the signal', async () => {
    for (const kind of ['async', 'plain']) {
      const child = await runChild('exit', { args: ['handled signal', kind], signalWhenReady: 'SIGTERM' });
      expect([child.signal, resultOf(child)]).toEqual(['SIGTERM', { delivered: 5 }]);
    }
  });
  test('flushOnSignals for two collectors: the process ends when both have delivered', async () => {
    const child = await runChild('exit', {
      args: ['signal handled for two collectors', 'async'],
      signalWhenReady: 'SIGTERM',
    });
    expect([child.signal, resultOf(child)]).toEqual(['SIGTERM', { delivered: 6 }]);
  });
  test('where the application handles it too, the end is the application’s: one signal, and later spans arrive', async () => {
    for (const kind of ['sync', 'plain', 'async']) {
      const child = await runChild('exit', {
        args: ['signal handled by the application too', kind],
        signalWhenReady: 'SIGTERM',
      });
      expect([child.signal, child.code, resultOf(child)]).toEqual([null, 7, { delivered: 6 }]);
    }
  });
  test('one that the program emits itself ends nothing, and the real one after it still flushes', async () => {
    const child = await runChild('exit', { args: ['emitted signal', 'sync'] });
    expect([child.signal, child.code, resultOf(child)]).toEqual([null, 4, { delivered: 5 }]);
    const ended = await runChild('exit', {
      args: ['emitted signal, then a real one', 'async'],
      signalWhenReady: 'SIGTERM',
    });
    expect([ended.signal, resultOf(ended)]).toEqual(['SIGTERM', { delivered: 5 }]);
  });
  test('a reporter that hangs does not keep the process from ending by the signal', async () => {
    const child = await runChild('exit', { args: ['handled signal', 'hangs'], signalWhenReady: 'SIGTERM' });
    expect(child.signal).toBe('SIGTERM');
  });
});
