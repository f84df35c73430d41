// Frames of labels are left out of profiles and frames of users never, wherever a bundler has put them and whichever build they are of.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { mark } from '../../../src/base/calls/mark.js';
import { buildFirst } from '../../../test/support/built.js';
import { bundleChild, out, resultOf, runFile } from '../../../test/support/child.js';
import { addOwnCode, register } from '../src/shared-state.js';
import { carriers } from './support/carriers.js';

buildFirst();

const source = fileURLToPath(new URL('./children/bundled.ts', import.meta.url));

/** Names of the frames of the stacks that hold this one. */
const stacksWith = (folded: string, name: string): string[] =>
  folded
    .split('\n')
    .map((line) =>
      line
        .split(';')
        .map((frame) => frame.split(' ')[0])
        .join(' '),
    )
    .filter((stack) => stack.includes(name));

describe.each(carriers)('carrier %s', (carrier) => {
  test('in a bundle, functions of the user that are called as ours are stay', async () => {
    const child = await runFile(await bundleChild(source), { args: [carrier] });
    const { folded } = resultOf(child) as { folded: string };
    // Node's timers have an `append` of their own, which the profiler's timer calls.
    const found = new Set(stacksWith(folded, 'append').filter((stack) => !stack.includes('insert append')));
    expect([...found]).toContain('(anonymous) run append apply');
    // Of a function that is just being entered or left V8 may miss the caller, or see the function twice.
    for (const stack of found) expect(stack).toMatch(/^\(anonymous\)( run)? append( apply){0,2}( sqrt)?$/);
  });

  test('frames of the build that the program uses are left out of a profile by the other', async () => {
    const program = join(out, `two-builds-${carrier}.mjs`);
    writeFileSync(
      program,
      `import { createRequire } from 'node:module';
       import { selectLabels, startProfile, toFolded } from '@spanline/profile';
       const { DynamicLabel } = createRequire(import.meta.url)('@spanline/profile');
       function work() { let x = 0; for (let i = 20_000 * Math.random(); i > 0; i--) x += Math.sqrt(i); return x; }
       const labels = Array.from({ length: 50 }, (_, i) => new DynamicLabel('query', String(i)));
       const running = await startProfile({ everyMs: 0.5, carrier: ${JSON.stringify(carrier)} });
       const startUs = process.cpuUsage().user;
       for (let i = 0; process.cpuUsage().user < startUs + 300_000; i++) labels[i % 50].apply(work);
       console.log(JSON.stringify({ folded: toFolded(selectLabels(running.stop(), () => false)) }));`,
    );
    const { folded } = resultOf(await runFile(program)) as { folded: string };
    const found = stacksWith(folded, 'work');
    expect(found).toContain('(anonymous) work');
    for (const stack of found) expect(stack).toMatch(/^\(anonymous\)( work){1,2}( sqrt)?$/);
  });
});

test('a mark is the place of its call, whatever has been done to Error', () => {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  Error.prepareStackTrace = () => 'mine';
  const begin = mark();
  const end = mark();
  expect([Error.stackTraceLimit, new Error('x').stack]).toEqual([0, 'mine']);
  Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  expect(begin?.url).toBe(import.meta.url);
  expect(end?.line).toBe((begin?.line ?? 0) + 1);
  const known = register.ownCode.length;
  addOwnCode(begin, end);
  addOwnCode(begin, undefined);
  expect(register.ownCode.splice(known)).toEqual([{ begin, end }]);
});
