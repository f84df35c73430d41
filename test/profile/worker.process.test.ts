// Each thread has labels and a profile of its own, and a thread that goes away in the middle of one takes nobody with it.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { bundleChild, resultOf, runFile } from '../support/child.js';

interface Answer {
  readonly threadId: number;
  readonly share: number;
  readonly isConserved: boolean;
}

test('worker threads are profiled side by side, and may end at any time', async () => {
  const child = await bundleChild(fileURLToPath(new URL('./children/workers.ts', import.meta.url)));
  const run = await runFile(child);
  expect([run.code, run.signal, run.stderr]).toEqual([0, null, '']);
  const { all, last } = resultOf(run) as unknown as { all: Answer[]; last: Answer };
  expect(all.map(({ threadId }) => threadId)).toEqual([1, 2, 0]);
  for (const { share, isConserved } of [...all, last]) {
    expect(isConserved).toBe(true);
    expect(share).toBeGreaterThan(0.8);
  }
});
