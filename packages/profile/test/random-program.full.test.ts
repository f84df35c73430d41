// A random program of every kind of scope, several tasks at once: no sample of a function bears a label that the function never had, and
// with the register none is lost.
import { runInThisContext } from 'node:vm';
import { expect, test } from 'vitest';
import { Span } from '../../../src/span/span.js';
import { samples } from '../../../test/support/samples.js';
import { DynamicLabel, type LabelledProfile, SampleKind, startProfile } from '../src/index.js';
import { busyAcrossAwaits, isConserved } from './support/busy-work.js';
import { carriers } from './support/carriers.js';
import { tooLongFor } from './support/never-inlined.js';
import { seeded } from './support/sampled.js';

const MIN = samples(300, 600, 20_000);
const KINDS = 6;
const TASKS = 5;
const MAX_DEPTH = 3;
const MAX_ROUNDS = 3000;

type Work = (rounds: number) => number;

const works = Array.from(
  { length: KINDS },
  (_, i) =>
    runInThisContext(
      `(function work${i}(rounds) { ${tooLongFor('rounds')} let x = ${i}; for (let i = 0; i < rounds; i++) x += Math.sqrt(i); return x; })`,
    ) as Work,
);

// The same program each time. What fails hangs on where the sampler meets it, so that there is nothing to shrink.
const random = seeded(20_261_125);
const pick = (n: number): number => Math.floor(random() * n);

class RandomProgram {
  private readonly labels = works.map((_, i) => new DynamicLabel('work', i));

  /** Does work `i` in its label, in some way or other. */
  private readonly ways: readonly ((label: DynamicLabel, work: () => void, depth: number) => unknown)[] = [
    (label, work) => label.apply(work),
    (label, work) =>
      label.run(async () => {
        work();
        await undefined;
        work();
      }),
    (label, work) => label.bind(work)(),
    (label, work) =>
      new Promise<void>((resolve) => {
        const done = label.bind(() => {
          work();
          resolve();
        });
        setImmediate(done);
      }),
    (label, work, depth) =>
      label.run(async () => {
        work();
        if (depth < MAX_DEPTH) await this.step(depth + 1);
        work();
      }),
    (label, work, depth) =>
      label.apply(() => {
        work();
        if (depth < MAX_DEPTH) void this.step(depth + 1);
        work();
      }),
    (label, work) => {
      const fail = (): void => {
        work();
        throw new Error('of the work');
      };
      expect(() => label.apply(fail)).toThrow('of the work');
    },
    (label, work) => {
      const root = Span.root('root');
      const task = async (): Promise<void> => {
        work();
        await undefined;
        const child = Span.startWithLocalParent('child');
        child.run(work);
        child.end();
        work();
        root.end();
      };
      return label.run(() => root.run(task));
    },
    (label, work) =>
      label.coroutine(function* () {
        work();
        yield undefined;
        work();
      })(),
  ];

  async step(depth = 0): Promise<void> {
    const i = pick(KINDS);
    const work = (): void => void works[i](pick(MAX_ROUNDS));
    const way = this.ways[pick(this.ways.length)];
    if (random() < 0.5) await way(this.labels[i], work, depth);
    else {
      using label = new DynamicLabel('work', i);
      await way(label, work, depth);
    }
  }
}

/** Samples of the work: with the right label, with none, and with labels that are not theirs. */
const outcomes = ({ samples, nodes, labels }: LabelledProfile) => {
  const wrong: string[] = [];
  let right = 0;
  let untold = 0;
  for (let i = 0; i < samples.count; i++) {
    const [, own] = /^work(\d)$/.exec(nodes.functionName[samples.node[i]]) ?? [];
    if (own === undefined || samples.kind[i] !== SampleKind.js) continue;
    const label = labels[samples.label[i]].work;
    if (label === undefined) untold++;
    else if (String(label) === own) right++;
    else wrong.push(`${label} for ${own}`);
  }
  return { right, untold, wrong };
};

test.each(carriers)('carrier %s', async (carrier) => {
  for (let right = 0; right < MIN; ) {
    const program = new RandomProgram();
    const running = await startProfile({ everyMs: 0.3, carrier });
    await Promise.all(Array.from({ length: TASKS }, () => busyAcrossAwaits(MIN / 2, () => program.step())));
    const taken = running.stop();
    const found = outcomes(taken);
    right += found.right;
    expect(found.wrong).toEqual([]);
    // Trampolines remember fewer labels than this program makes; what they forgot is told by nobody.
    if (carrier !== 'trampoline') expect([found.untold, taken.counts.lost]).toEqual([0, 0]);
    expect(isConserved(taken)).toBe(true);
  }
});
