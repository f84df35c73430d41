// Messages are split by the size they really have, to the byte; a span too large for any leaves its neighbours alone.

import { describe, expect, test } from 'vitest';
import { packBatch } from '../../../src/exporters/jaeger/pack-batch.js';
import { BatchPacker } from '../../../src/formats/jaeger-thrift/batch-packer.js';
import { BinaryWriter } from '../../../src/formats/jaeger-thrift/binary-writer.js';
import { CompactWriter } from '../../../src/formats/jaeger-thrift/compact-writer.js';
import type { SpanRecord } from '../../../src/record/record.js';
import { anySpan } from '../../exporters/jaeger/support/any-span.js';
import {
  type DecodedBatch,
  decodeBinaryPacket,
  decodeCompactPacket,
  decodeHttpBody,
} from '../../exporters/jaeger/support/decode.js';
import { batchOf, numberedRecords, RESOURCE, record } from '../../exporters/support/records.js';
import fc from '../../support/fast-check.js';
import { samples } from '../../support/samples.js';

type Format = [string, (maxBytes: number) => BatchPacker, (bytes: Buffer) => DecodedBatch];

const FORMATS: Format[] = [
  ['compact UDP', (max) => new BatchPacker(new CompactWriter(), 'agent-call', max, true), decodeCompactPacket],
  ['binary UDP', (max) => new BatchPacker(new BinaryWriter(), 'agent-call', max, true), decodeBinaryPacket],
  ['HTTP', (max) => new BatchPacker(new BinaryWriter(), 'batch', max, true), decodeHttpBody],
];

interface Packed {
  messages: Buffer[];
  counts: number[];
  through: number[];
  tooLarge: number[];
}

const packAll = (packer: BatchPacker, traces: (readonly SpanRecord[])[], from = 0): Packed => {
  const packed: Packed = { messages: [], counts: [], through: [], tooLarge: [] };
  const note = (index: number): unknown => packed.tooLarge.push(index);
  const batch = batchOf(traces);
  for (const message of packBatch(packer, batch, [{ from, to: batch.spanCount }], note)) {
    if (message === null) continue;
    packed.messages.push(Buffer.from(message.bytes));
    packed.counts.push(message.spanCount);
    packed.through.push(message.throughSpan);
  }
  return packed;
};

describe.each(FORMATS)('%s', (_name, makePacker, decode) => {
  const namesOf = (messages: Buffer[]): string[] =>
    messages.flatMap((message) => decode(message).spans.map((one) => one.operationName));
  const names = (spans: readonly SpanRecord[]): string[] => spans.map((one) => one.name);
  const wholeSize = (spans: SpanRecord[]): number => packAll(makePacker(1e8), [spans]).messages[0].length;

  // 14 to 15 spans is where the compact list header grows by a byte.
  test.each([1, 2, 14, 15, 16, 128, 129])('%i spans fit to the byte', (count) => {
    const spans = numberedRecords(count);
    const size = wholeSize(spans);
    expect(packAll(makePacker(size), [spans]).counts).toEqual([count]);
    const tighter = packAll(makePacker(size - 1), [spans]);
    expect(tighter.counts).toEqual(count === 1 ? [] : [count - 1, 1]);
    expect(tighter.tooLarge).toEqual(count === 1 ? [0] : []);
    expect(namesOf(tighter.messages)).toEqual(count === 1 ? [] : names(spans));
  });

  test('every message carries the process and its part of the spans, in order', () => {
    const traces = [numberedRecords(700), numberedRecords(1), numberedRecords(300)];
    const { messages, through } = packAll(makePacker(5000), traces);
    expect(messages.length).toBeGreaterThan(10);
    for (const message of messages) {
      expect(message.length).toBeLessThanOrEqual(5000);
      expect(decode(message).serviceName).toBe(RESOURCE.serviceName);
    }
    expect(namesOf(messages)).toEqual(traces.flatMap(names));
    expect(through.at(-1)).toBe(1001);
  });

  test('the walk can start again at any message', () => {
    const traces = [numberedRecords(300), numberedRecords(300)];
    const { messages, through } = packAll(makePacker(9000), traces);
    for (const [i, from] of through.entries()) {
      expect(namesOf(packAll(makePacker(9000), traces, from).messages)).toEqual(namesOf(messages.slice(i + 1)));
    }
  });

  test.each([[0], [5], [9], [0, 1], [4, 5, 6], [0, 9]])('spans %j too large: the others arrive', (...large) => {
    const spans = numberedRecords(10);
    for (const index of large)
      spans[index] = record({ name: `large ${index}`, properties: ['blob', 'x'.repeat(2000)] });
    for (const max of [600, 1000, 2000]) {
      const packed = packAll(makePacker(max), [spans]);
      expect(packed.tooLarge).toEqual(large);
      expect(namesOf(packed.messages)).toEqual(names(spans.filter((_, i) => !large.includes(i))));
    }
  });

  test('a huge span does not leave its memory behind', () => {
    const packer = makePacker(65_000);
    const huge = record({ properties: ['blob', 'x'.repeat(20_000_000)] });
    expect(packAll(packer, [[huge]]).tooLarge).toEqual([0]);
    packAll(packer, [numberedRecords(1)]);
    expect(packer.writer.out.bytes.length).toBeLessThanOrEqual(130_000);
  });

  test('random spans and random limits: nothing is lost, doubled, reordered or over the limit', () => {
    fc.assert(
      fc.property(fc.array(anySpan, { maxLength: 30 }), fc.integer({ min: 100, max: 6000 }), (spans, max) => {
        const packed = packAll(makePacker(max), spans.length === 0 ? [] : [spans]);
        for (const message of packed.messages) expect(message.length).toBeLessThanOrEqual(max);
        const alone = (one: SpanRecord): number => packAll(makePacker(1e8), [[one]]).messages[0].length;
        const large = spans.flatMap((one, i) => (alone(one) > max ? [i] : []));
        expect(packed.tooLarge).toEqual(large);
        expect(namesOf(packed.messages)).toEqual(names(spans.filter((_, i) => !large.includes(i))));
      }),
      { numRuns: samples(5, 16, 400) },
    );
  });
});
