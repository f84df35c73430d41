// What is gathered of a batch takes little memory, whatever its spans are.
import { expect, test } from 'vitest';
import { FactsOfBatch } from '../../src/wal/batch-facts.js';

test('as many resources as names, each of them once', () => {
  const facts = new FactsOfBatch();
  const resource = { properties: { 'service.name': 'shop' } };
  const before = process.memoryUsage().arrayBuffers;
  for (let i = 0; i < 12_000; i++) facts.span(i, 1 + i, 1, { resource, name: `GET /${i}`, kind: 'server' });
  // A byte for each pair is 144 MB.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8_000_000);
  expect(new Set(facts.done().shapes.map(({ name }) => name)).size).toBe(12_000);
});
