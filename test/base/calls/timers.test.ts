// The library takes Node's timers and clocks once, when it is loaded: no other file of it reads those of the globals, which a program's test may
// have faked.
import { expect, test } from 'vitest';
import { sourceFiles, sourceText } from '../../support/sources.js';

/** The command and the page are programs of their own; the time input of OpenTelemetry compares with the clock that the program read. */
const OTHERS = /^packages\/(cli|ui\/src\/page)\/|^src\/(clock\/clock|otel\/time-input|base\/calls\/timers)\.ts$/;

const OF_GLOBALS =
  /(?<![\w.#])(?:globalThis\.)?((?:set|clear)(?:Timeout|Interval|Immediate)\(|queueMicrotask\(|(?:performance|Date)\.now\b|process\.hrtime\b|new Date\(\))/;

/** Lines that read a timer or clock of the globals, without comments and texts. */
const readsIn = (text: string): string[] =>
  text
    .replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|'[^'\n]*'|`[^`]*`/gm, '')
    .split('\n')
    .filter((line) => OF_GLOBALS.test(line));

test('no file but one reads timers or clocks of the globals', () => {
  const files = sourceFiles.filter((file) => file.endsWith('.ts') && !OTHERS.test(file));
  expect(files.length).toBeGreaterThan(500);
  const found = files.flatMap((file) => readsIn(sourceText(file)).map((line) => `${file}:${line}`));
  expect(found).toEqual([]);
});

test('a use is found, and a word in a comment is none', () => {
  expect(
    readsIn('const a = setTimeout(f, 1);\nx = Date.now() - 1;\n// setTimeout(f)\ny = timers.setTimeout(f);'),
  ).toHaveLength(2);
});
