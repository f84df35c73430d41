// The table of a graph's blocks comes back with an offset for each block; a table that does not fill its sections exactly is refused, and
// a count that lies takes no memory.

import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import type { WrittenBlock } from '../../src/container/container-writer.js';
import { GraphError } from '../../src/container/graph-error.js';
import { type ColumnPlace, decodeNodeTable, encodeNodeTable } from '../../src/nodes/node-table.js';

const anyColumns: fc.Arbitrary<WrittenBlock[][]> = fc.array(
  fc.array(
    fc.record({
      offset: fc.constant(0),
      storedLength: fc.nat(100_000),
      inflatedLength: fc.nat(1_000_000),
      codec: fc.constantFrom(0, 1, 2),
      crc: fc.nat(2 ** 32 - 1),
    }),
    { maxLength: 12 },
  ),
  { maxLength: 3 },
);

/** Sections one behind the other, as a writer leaves them. */
const placed = (columns: readonly (readonly WrittenBlock[])[]): ColumnPlace[] => {
  let end = 16;
  return columns.map((blocks, i) => {
    const start = end;
    for (const { storedLength } of blocks) end += storedLength;
    return { section: 10 + i, start, end, blockCount: blocks.length };
  });
};

describe('a node table', () => {
  test('comes back, with where each block is', () => {
    fc.assert(
      fc.property(anyColumns, (columns) => {
        const places = placed(columns);
        const decoded = decodeNodeTable(encodeNodeTable(columns), places, 'x.graph');
        columns.forEach((blocks, c) => {
          let offset = places[c].start;
          blocks.forEach((block, b) => {
            expect(decoded[c][b]).toEqual({ ...block, offset, section: 10 + c, block: b });
            offset += block.storedLength;
          });
        });
      }),
    );
  });

  test('damaged bytes are refused, or every block lies in its section', () => {
    fc.assert(
      fc.property(anyColumns, fc.nat(), fc.nat(255), fc.boolean(), (columns, at, bits, isCut) => {
        const places = placed(columns);
        let bytes = encodeNodeTable(columns);
        if (isCut) bytes = bytes.subarray(0, at % (bytes.length + 1));
        else if (bytes.length > 0) bytes[at % bytes.length] ^= bits;
        try {
          const decoded = decodeNodeTable(bytes, places, 'x.graph');
          decoded.forEach((blocks, c) => {
            for (const { offset, storedLength } of blocks) {
              expect(offset).toBeGreaterThanOrEqual(places[c].start);
              expect(offset + storedLength).toBeLessThanOrEqual(places[c].end);
            }
          });
        } catch (error) {
          expect(error).toMatchObject({ code: 'ERR_SPANLINE_GRAPH_CORRUPT', section: 'nodeTable' });
        }
      }),
      { numRuns: samples(300, 2000) },
    );
  });

  test('a count of blocks that lies is refused before memory is taken', () => {
    const before = process.memoryUsage();
    const places = [{ section: 10, start: 16, end: 17, blockCount: 8_388_608 }];
    expect(() => decodeNodeTable(Buffer.alloc(64), places, 'x.graph')).toThrow(GraphError);
    const after = process.memoryUsage();
    expect(after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers).toBeLessThan(4 * 1024 * 1024);
  });
});
