// The memory reporter keeps what it is given, late spans with their trace, and never more than its bound.
import { expect, test } from 'vitest';
import { MemoryReporter } from '../../src/exporters/memory.js';
import { TraceIdentity } from '../../src/record/record.js';
import { batchOf, numberedRecords, record } from './support/records.js';

const traceNumber = (number: number, count: number) => {
  const trace = new TraceIdentity(0, 0, 0, number, '');
  return Array.from({ length: count }, (_, i) =>
    record({ trace, id: [number, i + 1], parent: [i === 0 ? 0 : number, i === 0 ? 0 : 1], name: `${number}.${i}` }),
  );
};

test('traces, spans, find and tree', () => {
  const memory = new MemoryReporter();
  memory.report(batchOf([traceNumber(1, 3), traceNumber(2, 1)]));
  expect(memory.traces.map((trace) => [trace.traceId, trace.spans.length])).toEqual([
    ['00000000000000000000000000000001', 3],
    ['00000000000000000000000000000002', 1],
  ]);
  expect(memory.spans.map((span) => span.name)).toEqual(['1.0', '1.1', '1.2', '2.0']);
  expect(memory.find('1.2')).toBe(memory.spans[2]);
  expect(memory.find('nobody')).toBeUndefined();
  expect(memory.tree()).toBe('1.0\n  1.1\n  1.2\n2.0');
  expect(memory.traces[0].resource.serviceName).toBe('shop');
});

test('late spans are shown with their trace; what was handed out before stays as it was', () => {
  const memory = new MemoryReporter();
  const spans = traceNumber(1, 3);
  memory.report(batchOf([spans.slice(0, 2), traceNumber(2, 1)]));
  const before = memory.traces;
  memory.reportSync(batchOf([spans.slice(2)]));
  expect(memory.tree()).toBe('1.0\n  1.1\n  1.2\n2.0');
  expect(before[0].spans).toHaveLength(2);
});

test('beyond the bound the oldest traces go, counted', () => {
  const memory = new MemoryReporter({ maxSpans: 10 });
  for (let i = 1; i <= 5; i++) memory.report(batchOf([traceNumber(i, 4)]));
  expect(memory.tree()).toBe('4.0\n  4.1\n  4.2\n  4.3\n5.0\n  5.1\n  5.2\n  5.3');
  expect(memory.stats()).toEqual({ batches: 5, traces: 2, spans: 8, droppedSpans: 12, droppedTraces: 3 });
  memory.report(batchOf([numberedRecords(11)]));
  expect(memory.stats()).toMatchObject({ traces: 0, spans: 0, droppedSpans: 31, droppedTraces: 6 });
});

test('clear forgets the traces and keeps the counters', () => {
  const memory = new MemoryReporter();
  memory.report(batchOf([traceNumber(1, 2)]));
  memory.clear();
  expect(memory.traces).toEqual([]);
  expect(memory.stats()).toMatchObject({ batches: 1, spans: 0, droppedSpans: 0 });
});

test.each([
  [{ maxSpans: 0 }, '"maxSpans"'],
  [{ maxSpan: 5 }, '"maxSpan"'],
])('wrong options %j name themselves', (options, name) => {
  expect(() => new MemoryReporter(options as object)).toThrow(
    expect.objectContaining({ code: 'ERR_SPANLINE_OPTION', message: expect.stringContaining(name) }),
  );
});
