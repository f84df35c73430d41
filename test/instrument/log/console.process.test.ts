// Trace ids behind what `console` prints, in a Node that publishes it.
import { channel } from 'node:diagnostics_channel';
import { expect, test } from 'vitest';
import { Span } from '../../../src/index.js';
import { instrumentOnly } from '../support.js';

test('inside a trace alone', () => {
  instrumentOnly({ console: true });
  const outside = ['text'];
  channel('console.log').publish(outside);
  expect(outside).toEqual(['text']);
  const inside = ['text'];
  const root = Span.root('request');
  root.run(() => channel('console.log').publish(inside));
  expect(inside).toEqual(['text', `trace_id=${root.context?.traceId} span_id=${root.context?.spanId}`]);
  root.end();
});
