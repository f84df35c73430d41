// Profiles that V8 took, through the writers: Go's reader finds the shares of the work, and without labels there is no trace of them.
import { Session } from 'node:inspector/promises';
import { runInThisContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { samples } from '../../../../test/support/samples.js';
import { DynamicLabel, startProfile } from '../../src/index.js';
import { toFolded } from '../../src/output/folded.js';
import { toPprof } from '../../src/output/pprof.js';
import { readProfile } from '../../src/output/read-profile.js';
import { selectLabels } from '../../src/output/select-labels.js';
import { shares } from '../../src/shares.js';
import { carriers } from '../support/carriers.js';
import { asksGoPprof, goPprofTags } from '../support/go-pprof.js';
import { tooLongFor } from '../support/never-inlined.js';

const CPU_MS = samples(150, 600);

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Work of its own name that V8 inlines nowhere; never the same twice. */
const busy = (name: string, units: number): (() => number) =>
  runInThisContext(
    `(function ${name}() { let x = 0; ${tooLongFor('x')} for (let i = ${units} * (0.5 + Math.random()); i > 0; i--) x += Math.sqrt(i); return x; })`,
  ) as () => number;

const busyMuch = busy('busyMuch', 60_000);
const busyLittle = busy('busyLittle', 20_000);

/** Much of the work for the one query, little for the other. */
const taken = async (carrier: (typeof carriers)[number]) => {
  using q1 = new DynamicLabel({ query: 'q1', rows: 3 });
  using q2 = new DynamicLabel({ query: 'q2', rows: 1 });
  const running = await startProfile({ everyMs: 0.5, carrier });
  const end = cpuMs() + CPU_MS;
  while (cpuMs() < end) {
    q1.apply(busyMuch);
    q2.apply(busyLittle);
  }
  return running.stop();
};

describe.each(carriers)('carrier %s', (carrier) => {
  test('the shares of the work, as the profile, its file and Go tell them', async () => {
    const profile = await taken(carrier);
    const bytes = await toPprof(profile);
    const sharesOf = (of: typeof profile) => new Map(shares(of, 'query').map(({ value, share }) => [value, share]));
    const known = sharesOf(profile);
    const [q1 = 0, q2 = 0] = [known.get('q1'), known.get('q2')];
    expect(q1).toBeGreaterThan(q2);
    expect(q2).toBeGreaterThan(0);
    const again = sharesOf(await readProfile(bytes));
    for (const [value, share] of known) expect(again.get(value)).toBeCloseTo(share, 6);
    if (!asksGoPprof) return;
    expect(goPprofTags(bytes).query.q1.share).toBeCloseTo(q1 / (q1 + q2), 3);
  });

  test('without labels there is no trace of them: the work stands under its caller', async () => {
    const folded = toFolded(selectLabels(await taken(carrier), () => false));
    expect(folded).not.toMatch(/trampoline|^\[/m);
    const stacks = folded.split('\n').filter((line) => line.includes('busy'));
    expect(stacks.length).toBeGreaterThan(0);
    // Above it is what Node calls promises by, of which V8 shows more while it is cold.
    for (const stack of stacks)
      expect(stack).toMatch(
        /^(?:processTicksAndRejections \([^;]*\);)?(?:runMicrotasks;)?taken \([^;]*\);busy(Much|Little) \([^;]*\)(;\w+( \([^;]*\))?)? \d+$/,
      );
  });
});

test('a profile by V8 itself is read, each sample once', async () => {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  let sum = 0;
  for (let i = 0; i < 3e6; i++) sum += Math.sqrt(i);
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  expect(sum).toBeGreaterThan(0);
  const read = await readProfile(Buffer.from(JSON.stringify(profile)));
  expect(read.samples.count).toBe(profile.samples?.length);
  const { total, ...counts } = read.counts;
  expect(Object.values(counts).reduce((a, b) => a + b, 0)).toBe(total);
  expect(read.unit).toBe('samples');
});
