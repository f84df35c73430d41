// A small history of benchmarks and a store made of it by the command itself.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import { scratch, spanline } from './spanline.js';

export const COMMITS = 60;
const SLOWER_AT = 20;
const FASTER_AT = 40;

/** Values that wobble the same way in every run. */
const wobble = (i: number): number => ((i * 7) % 5) / 10;

/** The history as JSON lines: `draw` gets slower at c20, `speed` faster at c40, `fill` stays as it is, `score` has no unit that tells. */
export const history = (): string =>
  Array.from({ length: COMMITS }, (_, i) =>
    JSON.stringify({
      group: 'G',
      commit: `c${String(i).padStart(2, '0')}`,
      date: Date.UTC(2025, 0, 1 + i),
      tool: 't',
      benches: [
        { name: 'draw', value: (i < SLOWER_AT ? 100 : 130) + wobble(i), unit: 'ms' },
        { name: 'fill', value: 10 + wobble(i) / 10, unit: 'ms' },
        { name: 'speed', value: (i < FASTER_AT ? 1000 : 1500) + wobble(i), unit: 'ops/sec' },
        { name: 'score', value: (i < FASTER_AT ? 7 : 14) + wobble(i), unit: 'points' },
      ],
    }),
  ).join('\n');

/** A scratch directory with `history.jsonl` and, in `store`, the store made of it: tiles of 16 commits. */
export const perfStore = (): { readonly dir: string; readonly store: string; readonly file: string } => {
  const dir = scratch();
  const store = join(dir, 'store');
  const file = join(dir, 'history.jsonl');
  beforeAll(async () => {
    writeFileSync(file, history());
    expect(await spanline(['perf', 'init', '-s', store, '--tile-size', '16', '--shards', '2'])).toMatchObject({
      code: 0,
    });
    expect(await spanline(['perf', 'ingest', '-s', store, file])).toMatchObject({ code: 0 });
  });
  return { dir, store, file };
};
