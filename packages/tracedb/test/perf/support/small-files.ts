// Ingest files of one value each, as a run of continuous integration leaves them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { directory } from '../../ingest/support/ingest-files.js';

/** A file in the format perf-json. */
export const perfJson = (commit: string, value: number, more: object = {}) => ({
  version: 1,
  git_hash: commit,
  results: [{ key: { test: 'draw', unit: 'ms' }, measurement: value }],
  ...more,
});

/** So many files, of a commit each, that say when they measured. */
export const smallFiles = (count: number): string[] => {
  const dir = directory();
  return Array.from({ length: count }, (_, i) => {
    const path = join(dir, `${String(i).padStart(5, '0')}.json`);
    writeFileSync(path, JSON.stringify(perfJson(`c${i}`, i, { date: 1000 + i })));
    return path;
  });
};
