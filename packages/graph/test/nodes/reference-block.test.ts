// The references of a block come back as they were; damaged bytes give a typed error before memory is taken for what they claim.

import { describe, expect, test } from 'vitest';
import type { ByteReader } from '../../../../src/base/bytes/byte-reader.js';
import { ByteWriter } from '../../../../src/base/bytes/byte-writer.js';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { CorruptError } from '../../src/container/graph-error.js';
import { sectionReader } from '../../src/container/layout.js';
import { type ReferenceRows, readReferenceBlock, writeReferenceBlock } from '../../src/nodes/node-blocks.js';

type Lists = readonly (readonly number[])[];

const toRows = (lists: Lists): ReferenceRows => {
  const offsets = new Uint32Array(lists.length + 1);
  lists.forEach(({ length }, i) => {
    offsets[i + 1] = offsets[i] + length;
  });
  return { offsets, targets: Uint32Array.from(lists.flat()) };
};

const fromRows = ({ offsets, targets }: ReferenceRows): number[][] =>
  Array.from({ length: offsets.length - 1 }, (_, i) => [...targets.subarray(offsets[i], offsets[i + 1])]);

const reader = (bytes: Uint8Array): ByteReader => sectionReader(bytes, 'block 2 of references', 'references', 2);

const encode = (rows: readonly ReferenceRows[], start: number, end: number): Buffer => {
  const writer = new ByteWriter();
  writeReferenceBlock(writer, rows, start, end);
  return Buffer.from(writer.view());
};

/** Nodes, ghosts, and one to three lists of references. */
const anyGraph = fc
  .tuple(fc.integer({ min: 1, max: 30 }), fc.nat(5), fc.integer({ min: 1, max: 3 }))
  .chain(([nodes, ghosts, lists]) => {
    const node = fc.array(fc.nat(nodes + ghosts - 1), { maxLength: 4 });
    const list = fc.array(node, { minLength: nodes, maxLength: nodes });
    return fc.record({
      nodes: fc.constant(nodes),
      ordinals: fc.constant(nodes + ghosts),
      lists: fc.array(list, { minLength: lists, maxLength: lists }),
      cuts: fc.tuple(fc.nat(nodes), fc.nat(nodes)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const),
    });
  });

describe('a block of references', () => {
  test('comes back, whatever stretch of the nodes it is', () => {
    fc.assert(
      fc.property(anyGraph, ({ ordinals, lists, cuts: [start, end] }) => {
        const bytes = encode(lists.map(toRows), start, end);
        const decoded = readReferenceBlock(reader(bytes), lists.length, start, end - start, ordinals);
        expect(decoded.map(fromRows)).toEqual(lists.map((list) => list.slice(start, end)));
      }),
      { numRuns: samples(60, 300) },
    );
  });

  test('takes a byte a node where each refers to its neighbour, and little more where all refer to few', () => {
    const nodes = Array.from({ length: 512 }, (_, i) => i);
    expect(encode([toRows(nodes.map((i) => [i + 1]))], 0, 512).length).toBe(513);
    expect(encode([toRows(nodes.map((i) => (i === 0 ? [] : [i - 1])))], 0, 512).length).toBe(513);
    expect(encode([toRows(nodes.map((i) => [7000 + (i >> 6)]))], 0, 512).length).toBeLessThanOrEqual(513 + 512 + 2);
    expect(encode([toRows(nodes.map((i) => [i + 30]))], 0, 512).length).toBeLessThanOrEqual(513 + 512);
  });

  test('damaged bytes are refused, or every reference is a node that exists', () => {
    fc.assert(
      fc.property(anyGraph, fc.nat(), fc.nat(255), fc.boolean(), ({ nodes, ordinals, lists }, at, bits, isCut) => {
        let bytes = encode(lists.map(toRows), 0, nodes);
        if (isCut) bytes = bytes.subarray(0, at % (bytes.length + 1));
        else bytes[at % bytes.length] ^= bits;
        try {
          const decoded = readReferenceBlock(reader(bytes), lists.length, 0, nodes, ordinals);
          for (const { targets } of decoded) for (const target of targets) expect(target).toBeLessThan(ordinals);
        } catch (error) {
          expect(error).toBeInstanceOf(CorruptError);
          expect(error).toMatchObject({ section: 'references', block: 2 });
        }
      }),
      { numRuns: samples(300, 2000) },
    );
  });

  test.each([
    ['an unknown form', [4, 0]],
    ['a degree beyond all bounds', [0, 0x82, 0x80, 0x80, 0x80, 0x20]],
    ['a degree beyond the bytes there are', [0, 0xfe, 0xff, 0x7f, 0]],
    ['a neighbour that is not a reference', [0, 1]],
    ['a neighbour in front of all nodes', [1, 3]],
    ['a reference in front of all nodes', [0, 2, 1]],
    ['a reference behind all nodes', [0, 2, 20]],
    ['bytes too many', [0, 0, 0]],
    ['nothing', []],
  ])('%s is refused before memory is taken', (_, bytes) => {
    const before = process.memoryUsage().arrayBuffers;
    expect(() => readReferenceBlock(reader(Uint8Array.from(bytes)), 1, 0, 1, 10)).toThrow(CorruptError);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024);
  });
});
