// Every ```ts example of README.md, of docs/ and of the doc comments runs against the built package, but for those marked ```ts no-run (they need a
// server). The quick suite runs some of them; docs-types.full.test.ts type-checks all. Those that set nothing of their process share one in the full
// suite, for to start a process costs more than to run them. At night each has its own: then one that needs what another has left is found.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sampleOf, suite } from '../support/samples.js';
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

/** What a process has once. */
const OF_THE_PROCESS = /configure\(|setReporter\(|flightRecorder|process\.|instrument|rofile|setGlobal|register/;
const SHARING = 8;

const runnable = examples.filter(({ isRun }) => isRun);
const alone = runnable.filter(({ code }) => OF_THE_PROCESS.test(code)).map(({ name }) => name);
const others = runnable.map(({ name }) => name).filter((name) => !alone.includes(name));
/** Examples by process. */
const groups =
  suite === 'full'
    ? [...alone.map((name) => [name]), ...others.flatMap((_, i) => (i % SHARING ? [] : [others.slice(i, i + SHARING)]))]
    : sampleOf(runnable, 5, runnable.length).map(({ name }) => [name]);

/** What Node is given to run them one after the other, and to say which have run to their end. */
const argsOf = (names: readonly string[]): readonly string[] => {
  if (names.length === 1) return [join(out, `${names[0]}.js`)];
  const imports = names.map((name) => `await import('./${name}.js'); ran.push('${name}');`);
  const code = ['const ran = [];', "process.on('exit', () => console.error('ran ' + ran));", ...imports];
  return ['--input-type=module', '-e', code.join('\n')];
};

describe('each example runs', () => {
  test.each(groups.map((names) => [names.join(', '), names] as const))('%s', (_, names) => {
    const { status, stderr } = spawnSync(process.execPath, argsOf(names), {
      cwd: out,
      encoding: 'utf8',
      timeout: 30_000,
      env: { ...process.env, NO_COLOR: '1', OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    });
    expect(status, stderr).toBe(0);
    if (names.length > 1) expect(stderr).toMatch(new RegExp(`^ran ${names}$`, 'm'));
  });
});
