// Within which times traces lie is said without their keys, of which nearly all would be read, unless two of a group have the same mark.
import { BufferTransport, Container, SectionId, type Transport } from '@spanline/graph';
import { expect, test } from 'vitest';
import { Segment } from '../../src/segment/segment.js';
import { segmentBytes, tracesOf } from './support/segments.js';
import { syntheticSpans } from './support/synthetic-spans.js';

type Ranges = Parameters<Transport['readRanges']>[0];

class WatchedTransport extends BufferTransport {
  ranges: Ranges[number][] = [];

  override readRanges(ranges: Ranges): Promise<Buffer[]> {
    this.ranges.push(...ranges);
    return super.readRanges(ranges);
  }
}

const extentOf = (spans: readonly { startUnixNs: bigint; endUnixNs: bigint }[]) => ({
  startUnixNs: spans.reduce((min, { startUnixNs }) => (startUnixNs < min ? startUnixNs : min), spans[0].startUnixNs),
  endUnixNs: spans.reduce((max, { endUnixNs }) => (endUnixNs > max ? endUnixNs : max), 0n),
});

test('those of traces, large ones in pieces among them, and no key is read', async () => {
  const spans = [
    ...syntheticSpans({ traces: 400, spansPerTrace: 10, seed: 1 }),
    ...syntheticSpans({ traces: 2, spansPerTrace: 3000, seed: 2 }),
  ];
  const transport = new WatchedTransport(segmentBytes(spans));
  const keys = (await Container.open(transport)).need(SectionId.dictionaryBlocks);
  const segment = await Segment.open(transport, { tailBytes: 2048 });
  transport.ranges = [];
  const traces = tracesOf(spans);
  const found = await segment.extents([...traces.keys(), 'f'.repeat(32)]);
  expect([...found.keys()].sort()).toEqual([...traces.keys()].sort());
  for (const [id, trace] of traces) {
    const { startUnixNs, endUnixNs } = found.get(id) ?? {};
    expect({ startUnixNs, endUnixNs }).toEqual(extentOf(trace));
  }
  const ofKeys = transport.ranges.filter(
    ({ offset, length }) => offset < keys.offset + keys.storedLength && offset + length > keys.offset,
  );
  expect(transport.ranges.length).toBeGreaterThan(0);
  expect(ofKeys).toEqual([]);
});

test('those of traces with the same mark are told apart by their keys', async () => {
  const spans = syntheticSpans({ traces: 10, spansPerTrace: 3, seed: 3 }).map((span) => ({
    ...span,
    traceId: `${span.traceId.slice(0, 26)}abcdef`,
    links: [],
  }));
  const traces = tracesOf(spans);
  const segment = await Segment.open(segmentBytes(spans));
  const found = await segment.extents([...traces.keys(), `${'f'.repeat(26)}abcdef`]);
  expect(found.size).toBe(10);
  for (const [id, trace] of traces) {
    const { startUnixNs, endUnixNs } = found.get(id) ?? {};
    expect({ startUnixNs, endUnixNs }).toEqual(extentOf(trace));
  }
  expect(await segment.faults()).toEqual([]);
});
