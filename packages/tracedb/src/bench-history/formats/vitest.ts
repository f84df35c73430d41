// Reads the report of `vitest bench --outputJson FILE`. The path of the checkout must never become part of a name: it differs from one to the next.
import { list, number, object, text } from '../../ingest/shape.js';
import { badOutput } from '../bench-error.js';
import { figureOf } from '../figure.js';
import type { BenchFormat } from './format.js';

const NS_PER_MS = 1e6;

const REPORT = object(
  {
    files: list(
      object(
        { groups: list(object({ fullName: text(), benchmarks: list(object({ name: text(1) }, {})) }, {})) },
        { filepath: text() },
      ),
    ),
  },
  {},
);

interface Benchmark {
  readonly name: string;
  readonly median?: number;
  readonly mean?: number;
  readonly samples?: readonly number[];
}

export const VITEST: BenchFormat = {
  name: 'vitest',
  figures(document) {
    if (REPORT(document, false).length > 0) return undefined;
    const { files } = document as {
      readonly files: readonly { groups: readonly { fullName: string; benchmarks: readonly Benchmark[] }[] }[];
    };
    return files.flatMap(({ groups }) =>
      groups.flatMap(({ fullName, benchmarks }) =>
        benchmarks.map(({ name, mean, median = mean, samples }) => {
          const bench = `${fullName} > ${name}`;
          if (number()(median, false).length > 0) throw badOutput(`vitest: ${bench} has no figures: it failed`);
          return figureOf({ bench, metric: 'latency', unit: 'ns' }, median as number, samples, NS_PER_MS);
        }),
      ),
    );
  },
};
