// Folded stacks are one line each whatever names hold, and read back without loss.
import { expect, test } from 'vitest';
import { type LabelledProfile, SampleKind } from '../../src/labelled-profile.js';
import { toFolded } from '../../src/output/folded.js';
import { readProfile } from '../../src/output/read-profile.js';
import { hostile, sampled, shop, summary } from '../support/sampled.js';

/** Numbers of labels are text in this format, and numbers of samples are not in it. */
const asText = (profile: LabelledProfile): Record<string, number> => {
  const texts = profile.labels.map((record) =>
    Object.fromEntries(Object.entries(record).map(([key, value]) => [key, String(value)])),
  );
  return Object.fromEntries(
    Object.entries(summary({ ...profile, labels: texts })).map(([key, { cpuNs }]) => [key, cpuNs]),
  );
};

test('a line a stack: labels, frames from the outermost, nanoseconds', () => {
  expect(toFolded(shop()).trimEnd().split('\n').sort()).toEqual([
    '(garbage collector) 40000000',
    '(program) 50000000',
    '[query=q1];[tenant=a];[rows=7];main (file:///app/main.js:10:5);serve (file:///app/serve.js:10:5);parse (file:///app/parse.js:10:5) 500000000',
    '[query=q1];[tenant=a];[rows=7];main (file:///app/main.js:10:5);serve (file:///app/serve.js:10:5);scan (file:///app/scan.js:10:5) 100000000',
    '[query=q2];[tenant=b];[rows=9];(program) 10000000',
    '[query=q2];[tenant=b];[rows=9];main (file:///app/main.js:10:5);serve (file:///app/serve.js:10:5);scan (file:///app/scan.js:10:5) 200000000',
    'main (file:///app/main.js:10:5);report (file:///app/report.js:10:5) 100000000',
  ]);
  expect(toFolded(sampled([{ stack: ['(program)'], samples: 3 }]), { weight: 'samples' })).toBe('(program) 3\n');
});

test('reads back', async () => {
  const profile = shop();
  const again = await readProfile(Buffer.from(toFolded(profile)));
  expect(asText(again)).toEqual(asText(profile));
  expect(again.samples.kind.includes(SampleKind.gc)).toBe(true);
});

test('hostile text stays in its line and reads back as it was', async () => {
  const profile = hostile();
  const text = toFolded(profile);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u202e]/);
  for (const line of text.trimEnd().split('\n')) expect(line).toMatch(/ \d+$/);
  expect(asText(await readProfile(Buffer.from(text)))).toEqual(asText(profile));
});

test('stacks of other tools are read as they are', async () => {
  const again = await readProfile(Buffer.from('main;work 2000000\r\nmain;rest here 1000000\n'));
  expect(again.samples.count).toBe(3);
  expect(again.nodes.functionName).toEqual(['(root)', 'main', 'work', 'rest here']);
});

test('an outermost function that is called like a label is none', async () => {
  const named = { functionName: '[query=q1]', url: '', line: 0, column: 0 };
  const profile = sampled([{ stack: [named, 'work'], labels: { query: 'q2' }, samples: 2 }]);
  const again = await readProfile(Buffer.from(toFolded(profile)));
  expect(asText(again)).toEqual(asText(profile));
});

test('a profile read from stacks is as long as its CPU time', async () => {
  const { startNs, endNs, samples } = await readProfile(Buffer.from('main;work 2000000\nmain;rest 500000\n'));
  expect(endNs - startNs).toBe(2_500_000);
  expect([...samples.cpuNs]).toEqual([1_000_000, 1_000_000, 500_000]);
});
