// What passed on a later try is named as flaky in the closing lines of CI; a torn report is named too, and ends nothing.

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';

interface FlakyLines {
  flakyLines(text: string, title: string): string[];
}
const { flakyLines } = (await import(pathToFileURL(resolve('scripts/lib/flaky-lines.mjs')).href)) as FlakyLines;

test('names what passed on a later try, with its failures', () => {
  const line = JSON.stringify({ test: 'a.test.ts > meets a busy machine', tries: 2, errors: ['cut'] });
  expect(flakyLines(`${line}\n`, 'tests')).toEqual([
    'flaky, passed on try 2: a.test.ts > meets a busy machine (tests)',
    '  failed before: cut',
  ]);
});

test.each(['{"test":"half', '{}', 'null'])('names the torn line %s beside the others', (torn) => {
  const whole = JSON.stringify({ test: 'a', tries: 3, errors: [] });
  expect(flakyLines(`${torn}\n${whole}\n`, 'tests')).toEqual([
    `flaky, and its report is torn (tests): ${torn}`,
    'flaky, passed on try 3: a (tests)',
  ]);
});

test('says nothing of nothing', () => expect(flakyLines('', 'tests')).toEqual([]));
