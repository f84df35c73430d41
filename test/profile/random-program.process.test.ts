// A random program of every kind of scope, several tasks at once: no sample of a function bears a label that the function never had, and
// with the register none is lost.
import { runInThisContext } from 'node:vm';
import { expect, test } from 'vitest';
import { DynamicLabel, SampleKind, startProfile } from '../../src/profile/index.js';
import { Span } from '../../src/span/span.js';
import { isConserved } from './support/busy-work.js';
import { carriers } from './support/carriers.js';
import { tooLongFor } from './support/never-inlined.js';

const MS = 1500;
const KINDS = 6;
const TASKS = 5;
const MAX_DEPTH = 3;
const MOST_ROUNDS = 3000;

type Work = (rounds: number) => number;

const works = Array.from(
  { length: KINDS },
  (_, i) =>
    runInThisContext(
      `(function work${i}(rounds) { ${tooLongFor('rounds')} let x = ${i}; for (let i = 0; i < rounds; i++) x += Math.sqrt(i); return x; })`,
    ) as Work,
);

const pick = (n: number): number => Math.floor(Math.random() * n);

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
    const work = (): void => void works[i](pick(MOST_ROUNDS));
    const way = this.ways[pick(this.ways.length)];
    if (Math.random() < 0.5) await way(this.labels[i], work, depth);
    else {
      using label = new DynamicLabel('work', i);
      await way(label, work, depth);
    }
  }
}

test.each(carriers)('carrier %s', async (carrier) => {
  const program = new RandomProgram();
  const running = await startProfile({ everyMs: 0.3, carrier });
  const end = performance.now() + MS;
  const task = async (): Promise<void> => {
    while (performance.now() < end) await program.step();
  };
  await Promise.all(Array.from({ length: TASKS }, task));
  const taken = running.stop();
  const found = new Map<string, number>();
  const { samples, nodes, labels } = taken;
  for (let i = 0; i < samples.count; i++) {
    const [, own] = /^work(\d)$/.exec(nodes.functionName[samples.node[i]]) ?? [];
    if (own === undefined || samples.kind[i] !== SampleKind.js) continue;
    const label = labels[samples.label[i]].work;
    const outcome = label === undefined ? 'untold' : String(label) === own ? 'right' : `${label} for ${own}`;
    found.set(outcome, (found.get(outcome) ?? 0) + 1);
  }
  const { right = 0, untold = 0, ...wrong } = Object.fromEntries(found);
  expect(wrong).toEqual({});
  expect(right).toBeGreaterThan(0);
  // Trampolines remember fewer labels than this program makes; what they forgot is told by nobody.
  if (carrier !== 'trampoline') expect([untold, taken.counts.lost]).toEqual([0, 0]);
  expect(isConserved(taken)).toBe(true);
});
