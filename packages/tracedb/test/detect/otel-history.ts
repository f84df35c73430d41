// The benchmark history of the OpenTelemetry JS SDK as series. It must never be changed by a test.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Series, SeriesCommit } from '../../src/detect/regressions.js';

interface Line {
  readonly commit: string;
  readonly date: number;
  readonly benches: readonly { readonly name: string; readonly value: number; readonly unit: string }[];
}

/** One series a benchmark; a commit's number is its line in the file, from 0 on. */
export const otelHistory = (): Series[] => {
  const file = new URL('../../../../examples/data/otel-js-benchmarks.jsonl.gz', import.meta.url);
  const series = new Map<string, { key: string; unit: string; commits: SeriesCommit[]; values: number[] }>();
  const lines = gunzipSync(readFileSync(file)).toString('utf8').trim().split('\n');
  for (const [number, text] of lines.entries()) {
    const { commit: hash, date: timestampMs, benches } = JSON.parse(text) as Line;
    for (const { name, value, unit } of benches) {
      const one = series.get(name) ?? { key: name, unit, commits: [], values: [] };
      series.set(name, one);
      one.commits.push({ number, hash, timestampMs });
      one.values.push(value);
    }
  }
  return [...series.values()];
};
