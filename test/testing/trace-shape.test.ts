// The shape of a trace: order and times do not count; names, parents and numbers do. A tree as deep as it has spans is not a danger.
import { describe, expect, test } from 'vitest';
import { drawShape, type ShapedSpan, traceShape } from '../../src/testing/trace-shape.js';
import fc from '../support/fast-check.js';
import { samples } from '../support/samples.js';

/** Spans of an indented tree, a name a line. */
const spansOf = (text: string): ShapedSpan[] => {
  const above: string[] = [];
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line, i) => {
      const depth = (line.length - line.trimStart().length) / 2;
      const spanId = String(i + 1).padStart(16, '0');
      above[depth] = spanId;
      return { traceId: 'a', spanId, parentSpanId: depth === 0 ? '' : above[depth - 1], name: line.trim() };
    });
};

const ORDERS = `
GET /orders
  SELECT orders
  SELECT item
    read
  SELECT item
    read
  SELECT item
`;

/** A random tree: each span's parent is an earlier one, or none. */
const trees = fc
  .array(fc.record({ parent: fc.nat(), name: fc.constantFrom('a', 'b', '', '"', ',') }), {
    minLength: 1,
    maxLength: 30,
  })
  .map((rows) =>
    rows.map(({ parent, name }, i): ShapedSpan => {
      const above = i === 0 ? 0 : parent % (i + 1);
      return { traceId: 'a', spanId: `s${i}`, parentSpanId: above === i || i === 0 ? '' : `s${above}`, name };
    }),
  );

/** The shape in other words, straight from its definition: nested lists, sorted. */
const modelOf = (spans: readonly ShapedSpan[], parent = ''): string =>
  JSON.stringify(
    spans
      .filter(({ parentSpanId }) => parentSpanId === parent)
      .map(({ name, spanId }) => JSON.stringify([name, modelOf(spans, spanId)]))
      .sort(),
  );

describe('the shape of a trace', () => {
  test('equal ones are drawn once with their number, others beside them', () => {
    const drawn = drawShape(traceShape(spansOf(ORDERS)));
    const lines = drawn.split('\n');
    expect(lines[0]).toBe('GET /orders');
    expect(lines.slice(1).sort()).toEqual(['    read', '  SELECT item', '  SELECT item ×2', '  SELECT orders'].sort());
  });

  test('an equal digest means an equal shape, and the other way round', () => {
    fc.assert(
      fc.property(trees, trees, (a, b) => {
        const areEqual = traceShape(a).digest === traceShape(b).digest;
        expect(areEqual).toBe(modelOf(a) === modelOf(b));
        expect(drawShape(traceShape(a)) === drawShape(traceShape(b))).toBe(areEqual);
      }),
      { numRuns: samples(50, 500, 10_000) },
    );
  });

  test('the order of spans does not count', () => {
    fc.assert(
      fc.property(
        trees.chain((spans) => fc.tuple(fc.constant(spans), fc.shuffledSubarray(spans, { minLength: spans.length }))),
        ([spans, shuffled]) => {
          expect(traceShape(shuffled)).toEqual(traceShape(spans));
        },
      ),
    );
  });

  test('with counts ignored one more of a kind is the same, the first second one is not', () => {
    const digestOf = (times: number): string =>
      traceShape(spansOf(`root\n${'  query\n'.repeat(times)}`), { counts: 'ignore' }).digest;
    expect(digestOf(2)).toBe(digestOf(100));
    expect(digestOf(1)).not.toBe(digestOf(2));
    expect(drawShape(traceShape(spansOf('root\n  query\n  query'), { counts: 'ignore' }), { counts: 'ignore' })).toBe(
      'root\n  query ×n',
    );
  });

  test('a chain of many spans', () => {
    const length = samples(20_000, 100_000);
    const chain = Array.from({ length }, (_, i): ShapedSpan => {
      const parentSpanId = i === 0 ? '' : String(i - 1);
      return { traceId: 'a', spanId: String(i), parentSpanId, name: 'step' };
    });
    expect(traceShape(chain).digest).toMatch(/^[\da-f]{32}$/);
    expect(drawShape(traceShape(chain))).toMatch(
      new RegExp(`\\.\\.\\. and ${length - 10_000} nodes more, digest [\\da-f]{32}$`),
    );
  });

  test('a name moves no cursor', () => {
    expect(drawShape(traceShape([{ traceId: 'a', spanId: '1', parentSpanId: '', name: 'a\n\u001b[31mb' }]))).toBe(
      'a\\n\\x1b[31mb',
    );
  });
});
