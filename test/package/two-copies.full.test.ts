// Two copies of a package in a process: a reporter of the one reports what the other has recorded, by its public records, and a warning says so
// once; a profile of the one has the labels of both.
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Consumer, root } from './consumer.js';

let consumer: Consumer;
beforeAll(() => {
  consumer = new Consumer();
  cpSync(consumer.package, join(consumer.dir, 'node_modules/other'), { recursive: true });
});
afterAll(() => consumer?.dispose());

test('the same bytes', () => {
  const file = consumer.write(
    'two.mjs',
    `import { flush, LocalSpan, setReporter, Span } from 'spanline';
     import { FileReporter } from 'spanline/exporters/file';
     import { FileReporter as Other } from 'other/exporters/file';
     const reporters = [new FileReporter({ path: 'own.jsonl' }), new Other({ path: 'other.jsonl' })];
     setReporter({
       name: 'both',
       async report(batch) { for (const each of reporters) await each.report(batch); },
       async flush() { for (const each of reporters) await each.flush(); },
     });
     for (let i = 0; i < 3; i++) {
       const root = Span.root('request ' + i).setStatus('error', 'why');
       root.addProperties({ n: i, text: 'ä' });
       await root.run(async () => {
         const local = LocalSpan.start('parse');
         LocalSpan.addEvent('read', { bytes: 7 });
         local.end();
       });
       root.end();
       await flush();
     }`,
  );
  const { code, stderr } = consumer.node([file]);
  expect(code, stderr).toBe(0);
  expect(stderr.match(/SPANLINE_TWO_COPIES/g)).toHaveLength(1);
  // Rows come in the order of their end, records in that of their start.
  const spansOf = (name: string): { spanId: string }[] =>
    readFileSync(join(consumer.dir, name), 'utf8')
      .trim()
      .split('\n')
      .flatMap((line) => JSON.parse(line).resourceSpans[0].scopeSpans[0].spans)
      .sort((a, b) => (a.spanId < b.spanId ? -1 : 1));
  const [own, other] = ['own.jsonl', 'other.jsonl'].map(spansOf);
  expect(own).toHaveLength(6);
  expect(other).toEqual(own);
});

test('labels of both copies, in a profile of either', () => {
  const place = consumer.install('profile');
  const addon = join(root, 'packages/profile/native/sigprof/out/sigprof.node');
  const prebuilt = `prebuilds/${process.platform}-${process.arch}/sigprof.node`;
  // Where there is no compiler there is no addon.
  if (existsSync(addon)) cpSync(addon, join(place, prebuilt));
  const other = join(consumer.dir, 'node_modules/other-profile');
  cpSync(place, other, { recursive: true });
  const file = consumer.write(
    'two-profiles.cjs',
    `const copies = [require('@spanline/profile'), require('other-profile')];
     async function shares(own, other) {
       const taken = own.profile({ durationMs: 1000 });
       const labels = [new own.DynamicLabel('copy', 'own'), new other.DynamicLabel('copy', 'other')];
       // Jittered: strictly periodic work locks with the sampler.
       const work = () => { const end = performance.now() + 2 + 8 * Math.random(); while (performance.now() < end) JSON.stringify([1, 2, 3]); };
       let profile;
       taken.then((one) => { profile = one; }, (error) => { throw error; });
       while (profile === undefined) { for (const label of labels) label.run(work); await new Promise(setImmediate); }
       return [profile.carrier, Object.fromEntries(own.shares(profile, 'copy').map(({ value, share }) => [value, share]))];
     }
     (async () => {
       const [a, b] = copies;
       console.log(JSON.stringify([await shares(a, b), await shares(b, a), await shares(a, b)]));
     })();`,
  );
  const { code, stdout, stderr } = consumer.node([file]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const profiles = JSON.parse(stdout) as [carrier: string, shares: Record<string, number>][];
  // One cell a thread is read, by the addon of the copy that came first; a busy machine may let it fail its self-test there.
  expect(profiles[1][0]).toBe('trampoline');
  // Each has half of the work, give or take 4 % (some 80 turns of 2 to 10 ms each): a quarter is six of that away.
  for (const [, { own = 0, other: others = 0 }] of profiles) {
    expect(own).toBeGreaterThan(0.25);
    expect(others).toBeGreaterThan(0.25);
  }
});
