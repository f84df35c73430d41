// A test of node:test as a user writes it; ITEMS says how many queries the operation makes.
import { test } from 'node:test';
import { flush, Span, setReporter } from 'spanline';
import { MemoryReporter } from 'spanline/exporters/memory';
import { expectTraceShape } from 'spanline/testing';

test('GET /orders', async () => {
  const reporter = new MemoryReporter();
  setReporter(reporter);
  const root = Span.root('GET /orders');
  for (let i = 0; i < Number(process.env.ITEMS); i++) Span.start('SELECT item', root).end();
  root.end();
  await flush();
  await expectTraceShape(reporter.spans, { name: 'GET /orders', file: process.env.SHAPES });
});
