// Each thread has labels and a profile of its own, and a thread that goes away in the middle of one takes nobody with it.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { bundleChild, resultOf, runFile } from '../../../test/support/child.js';
import { samples } from '../../../test/support/samples.js';
import { isEntered } from './support/chance.js';

interface Answer {
  readonly threadId: number;
  readonly byThread: Readonly<Record<string, number>>;
  readonly isConserved: boolean;
}

test('worker threads are profiled side by side, and may end at any time', async () => {
  const child = await bundleChild(fileURLToPath(new URL('./children/workers.ts', import.meta.url)));
  const run = await runFile(child, { args: [String(samples(1, 5, 100))] });
  expect([run.code, run.signal, run.stderr]).toEqual([0, null, '']);
  const { all, last } = resultOf(run) as unknown as { all: Answer[]; last: Answer };
  expect(all.map(({ threadId }) => threadId)).toEqual([1, 2, 0]);
  for (const [name, { byThread, isConserved }] of [
    ...['1', '2', '0'].map((id, i) => [id, all[i]] as const),
    ['main', last] as const,
  ]) {
    expect(isConserved).toBe(true);
    const { '': untold = 0, [name]: right = 0, ...wrong } = byThread;
    expect(wrong).toEqual({});
    expect(right).toBeGreaterThan(0);
    expect(isEntered(untold, right + untold)).toBe(true);
  }
});
