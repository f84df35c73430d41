// traceIterable is a span over an iteration, done, left early or failed, with the number of items.
import { expect, test } from 'vitest';
import { traceIterable } from '../../src/index.js';
import { recorder } from '../support/recorder.js';

async function* rows(n: number, log: string[] = []) {
  try {
    for (let i = 0; i < n; i++) yield i;
    if (n > 3) throw new RangeError('too many');
  } finally {
    log.push('closed');
  }
}

const drain = async (iterable: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of iterable);
};

test('done, left early, failed, empty, synchronous, with a parent of its own', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const log: string[] = [];
  await span.run(async () => {
    const all: number[] = [];
    for await (const row of traceIterable('done', rows(3, log))) all.push(row);
    expect(all).toEqual([0, 1, 2]);
    for await (const row of traceIterable('left', rows(3, log))) if (row === 1) break;
    await expect(drain(traceIterable('failed', rows(4, log)))).rejects.toThrow('too many');
    await drain(traceIterable('empty', []));
    await drain(traceIterable('sync', new Set([1, 2])));
  });
  await drain(traceIterable('parent', [1], { parent: span, properties: { p: 1 } }));
  span.end();
  expect(log).toEqual(['closed', 'closed', 'closed']);
  await collector.flush();
  expect(memory.tree()).toBe('root\n  done\n  left\n  failed\n  empty\n  sync\n  parent');
  const items = memory.spans.filter((one) => one.name !== 'root').map((one) => [one.name, one.properties.items]);
  expect(Object.fromEntries(items)).toEqual({ done: 3, left: 2, failed: 4, empty: 0, sync: 2, parent: 1 });
  expect(memory.find('failed')?.status).toEqual({ code: 'error', message: 'too many' });
  expect(memory.find('left')?.status.code).toBe('unset');
});

test('nothing begins before the first item is asked for', async () => {
  const { root, tree } = recorder();
  const span = root('root');
  span.run(() => traceIterable('never', rows(1)));
  span.end();
  expect(await tree()).toBe('root');
});
