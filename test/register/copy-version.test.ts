// Which version a copy of OpenTelemetry's API has inside a bundle, by the text around the place that calls.
import { expect, test } from 'vitest';
import { versionIn } from '../../src/register/share-parts.js';

const CALL = 'g[key] = instance;';
const at = (text: string) => {
  const before = text.slice(0, text.indexOf(CALL)).split('\n');
  return versionIn(text, { url: '', line: before.length - 1, column: before.at(-1)?.length ?? 0 });
};
const other = (length: number): string => `${'x'.repeat(length / 2)};y="1.30.1";${'x'.repeat(length / 2)};`;

test.each([
  [
    'the modules of the package one behind the other',
    `${other(90)}\nvar VERSION = "1.9.1";\n${'f();\n'.repeat(400)}${CALL}\n${other(9000)}`,
    '1.9.1',
  ],
  ['on one line without names', `${other(90)}var k="1.4.0";${'f();'.repeat(500)}${CALL}${other(9000)}`, '1.4.0'],
  [
    'written where it is compared',
    `${other(90)}const V="1.2.0";${'f();'.repeat(900)}${CALL}if(a.version!=="1.10.0")b()`,
    '1.10.0',
  ],
  ['modules in another order, far away', `${other(14000)}${CALL}${other(20000)}t.VERSION="1.9.0";`, '1.9.0'],
  ['a version before its release', `const VERSION='1.0.0-rc.3';${CALL}`, '1.0.0-rc.3'],
  ['none', `const VERSION='2.0.0';${CALL}`, undefined],
])('%s', (_, text, version) => {
  expect(at(text)).toBe(version);
});
