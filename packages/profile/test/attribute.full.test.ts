// What neither a note nor a frame tells is lost, and never unlabelled or somebody's; no weight is below nothing.
import { expect, test } from 'vitest';
import { attributed, type FrameTrace, type RegisterTrace } from '../src/build-profile.js';
import { DynamicLabel, startProfile } from '../src/index.js';
import { LabelTable } from '../src/label-table.js';
import { LabelRows, NO_LABEL } from '../src/labelled-profile.js';
import { monotonicUs } from '../src/sample-clock.js';
import { recordOf, scopeOf } from '../src/scope.js';
import { NO_SCOPE, register } from '../src/shared-state.js';
import type { NoteStore } from '../src/sigprof.js';
import { TrampolinePool, trampolineIndex } from '../src/trampoline-pool.js';
import { rawSamplesAt } from './support/raw-samples-at.js';

const indexOnStack = (): number =>
  trampolineIndex(/trampoline_\d+/.exec(new Error('where').stack ?? '')?.[0] ?? '', 'spanline:trampoline');

/** A register whose handler took no note. */
const withoutNotes = (): RegisterTrace => ({
  notes: { isComplete: false, notes: () => [].values() } as unknown as NoteStore,
  table: new LabelTable(),
  first: NO_SCOPE,
  firstUs: 0,
  firstCpuNs: 0,
  last: NO_SCOPE,
  lastUs: Number.POSITIVE_INFINITY,
});

test('with both carriers, a sample without a note has the label of its frame; without one it is lost where continuations are followed', () => {
  const pool = new TrampolinePool('second-context', 4);
  const label = new DynamicLabel('query', 'q1');
  const index = pool.run(label, indexOnStack);
  const us = monotonicUs();
  const scopes = (followsContinuations: boolean): unknown[] => {
    const frames: FrameTrace = { pool, timeline: undefined, followsContinuations };
    return attributed(rawSamplesAt([us, us + 1], [[index], []]), { register: withoutNotes(), frames }, 1e6)
      .scopes as unknown[];
  };
  expect(scopes(true)).toEqual([expect.objectContaining({ label }), 'lost']);
  expect(scopes(false)).toEqual([expect.objectContaining({ label }), NO_SCOPE]);
  pool.reset();
});

test('a label without keys is not a label', () => {
  const rows = new LabelRows();
  expect(rows.rowOf(recordOf(scopeOf(new DynamicLabel({}))))).toBe(NO_LABEL);
  expect(rows.labels).toHaveLength(3);
});

test('a profile that is over at once, again and again, is whole', async () => {
  for (let i = 0; i < 20; i++) {
    const running = await startProfile({ everyMs: 0.05 });
    const { samples, counts, endNs, startNs } = running.stop();
    expect(samples.count).toBe(counts.total);
    expect(endNs).toBeGreaterThanOrEqual(startNs);
    expect(samples.cpuNs.every((ns) => ns >= 0)).toBe(true);
  }
  expect(register.current).toBe(NO_SCOPE);
});
