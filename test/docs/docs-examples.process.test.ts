// Every ```ts example of README.md, of docs/ and of the doc comments runs against the built package, but for those marked ```ts no-run (they need a
// server). The quick suite runs some of them; docs-types.full.test.ts type-checks all.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sampleOf } from '../support/samples.js';
import { examples, examplesIn, examplesOf, writeExamples } from './support/examples.js';

const out = writeExamples('docs-examples');

test('a block marked no-run is checked and not run, one with an unknown mark is refused', () => {
  const text = '```ts\nrun()\n```\n\n```ts no-run\nserve()\n```\n';
  expect(examplesIn('a.md', text)).toEqual([
    { name: 'a-md-1', code: 'run()\n', isRun: true },
    { name: 'a-md-2', code: 'serve()\n', isRun: false },
  ]);
  expect(() => examplesIn('a.md', '```ts norun\n```\n')).toThrow('norun');
});

test('there are examples on the pages a user starts with', () => {
  for (const page of ['README.md', 'docs/getting-started.md', 'docs/spans.md', 'docs/exporters.md']) {
    expect(examplesOf(page).length, page).toBeGreaterThan(0);
  }
});

describe('each example runs', () => {
  const runnable = examples.filter(({ isRun }) => isRun).map(({ name }) => name);
  test.each(sampleOf(runnable, 5, runnable.length))('%s', (name) => {
    const { status, stderr } = spawnSync(process.execPath, [join(out, `${name}.js`)], {
      cwd: out,
      encoding: 'utf8',
      timeout: 30_000,
      env: { ...process.env, NO_COLOR: '1', OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    });
    expect(status, stderr).toBe(0);
  });
});
