// The time of a sample on the clock of the spans lies where a span begun at that moment does.
import { expect, test } from 'vitest';
import { Span, SpanContext } from '../../../../src/index.js';
import { unixNsAt } from '../../src/sample-clock.js';
import { gathering } from './support/traced-work.js';

/** What the conversions of the two readings may differ by. */
const SLACK_NS = 50_000n;

test('a span begun between two readings of CLOCK_MONOTONIC begins between their unix times', async () => {
  const { collector, records } = gathering();
  const brackets: { before: number; after: number }[] = [];
  for (let i = 0; i < 200; i++) {
    const before = Number(process.hrtime.bigint());
    const span = Span.root('s', SpanContext.random(), { collector });
    brackets.push({ before, after: Number(process.hrtime.bigint()) });
    span.end();
  }
  const spans = await records();
  expect(spans).toHaveLength(brackets.length);
  brackets.forEach(({ before, after }, i) => {
    const { startUnixNs } = spans[i];
    expect(startUnixNs).toBeGreaterThanOrEqual(unixNsAt(before) - SLACK_NS);
    expect(startUnixNs).toBeLessThanOrEqual(unixNsAt(after) + SLACK_NS);
  });
});

test('a moment later is so much later', () => {
  const from = Number(process.hrtime.bigint());
  const [a, b] = [unixNsAt(from), unixNsAt(from + 5e9)];
  expect(Number(b - a)).toBeGreaterThan(5e9 - 100_000);
  expect(Number(b - a)).toBeLessThan(5e9 + 100_000);
});
