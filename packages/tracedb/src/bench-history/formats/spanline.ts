// Reads the output of spanline's own benchmarks, `npm run -s bench -- SUITE --json`. Its own figures and those of peers must never share a name.
import { either, list, number, object, oneOf, text } from '../../ingest/shape.js';
import { type BenchFigure, figureOf } from '../figure.js';
import type { BenchFormat } from './format.js';

const FIGURE = either(number(), oneOf(null));

const OUTPUT = object(
  {
    suite: text(1),
    results: list(
      object(
        { subject: text(1), name: text(1), unit: text(1), median: FIGURE },
        { n: either(number(), text()), totalMedian: FIGURE, samples: list(number()), node: text() },
      ),
    ),
  },
  {},
);

interface Row {
  readonly subject: string;
  readonly name: string;
  readonly n?: number | string;
  readonly unit: string;
  readonly median: number | null;
  readonly totalMedian?: number | null;
  readonly samples?: readonly number[];
  readonly node?: string;
}

const ofRow = (
  suite: string,
  { subject, name, n, unit, median, totalMedian, samples, node }: Row,
  isOfSeveralNodes: boolean,
): readonly BenchFigure[] => {
  const line = isOfSeveralNodes && node !== undefined ? [`node-${node.replace(/^v/, '').split('.')[0]}`] : [];
  const words = [...(subject === 'spanline' ? [] : [subject]), name, ...(n === undefined ? [] : [n]), ...line];
  const bench = `${suite}/${words.join(' ')}`;
  // Caller time, and CPU of all threads.
  const own = typeof median === 'number' ? [figureOf({ bench, metric: 'caller', unit }, median, samples)] : [];
  if (typeof totalMedian !== 'number') return own;
  return [...own, figureOf({ bench, metric: 'cpu', unit }, totalMedian)];
};

export const SPANLINE: BenchFormat = {
  name: 'spanline',
  figures(document) {
    if (OUTPUT(document, false).length > 0) return undefined;
    const { suite, results } = document as { readonly suite: string; readonly results: readonly Row[] };
    // One run by several lines of Node: their figures must not share a name either.
    const isOfSeveralNodes = new Set(results.map(({ node }) => node)).size > 1;
    return results.flatMap((row) => ofRow(suite, row, isOfSeveralNodes));
  },
};
