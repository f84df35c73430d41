// Reads a list of figures with names, values and units, for benchmarks of one's own: what github-action-benchmark takes as
// `customSmallerIsBetter`, with samples and a metric besides.
import { list, number, object, text } from '../../ingest/shape.js';
import { figureOf } from '../figure.js';
import type { BenchFormat } from './format.js';

const FIGURES = list(
  object({ name: text(1), value: number(), unit: text(1) }, { metric: text(1), samples: list(number()) }),
);

interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly metric?: string;
  readonly samples?: readonly number[];
}

export const CUSTOM: BenchFormat = {
  name: 'custom',
  figures(document) {
    if (!Array.isArray(document) || document.length === 0 || FIGURES(document, false).length > 0) return undefined;
    return (document as readonly Figure[]).map(({ name, value, unit, metric = 'value', samples }) =>
      figureOf({ bench: name, metric, unit }, value, samples),
    );
  },
};
