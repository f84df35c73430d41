// A sample is given the note whose interval holds its time, or none; and the CPU time of a stretch is divided among its samples.
import { expect, test } from 'vitest';
import { attributed, matchNotes, weightsByCount, weightsByCpu } from '../src/build-profile.js';
import { DynamicLabel, SampleKind, stats } from '../src/index.js';
import { LabelTable } from '../src/label-table.js';
import { scopeOf } from '../src/scope.js';
import { NO_SCOPE } from '../src/shared-state.js';
import type { Note, NoteStore } from '../src/sigprof.js';
import { rawSamplesAt } from './support/raw-samples-at.js';

const note = (labelId: number, fromNs: number, toNs: number): Note => ({ labelId, fromNs, toNs, cpuNs: 0 });
const match = (us: readonly number[], notes: readonly Note[]): (number | undefined)[] =>
  matchNotes(Float64Array.from(us), notes.values()).map((each) => each?.labelId);

test('the note whose interval holds the microsecond of the sample', () => {
  const notes = [note(1, 10_900, 12_100), note(2, 20_000, 20_999), note(3, 30_500, 34_000)];
  expect(match([10, 20, 34], notes)).toEqual([1, 2, 3]);
});

test('a sample before, between or after all notes has none, and takes none from another', () => {
  const notes = [note(1, 10_000, 11_000), note(2, 20_000, 21_000)];
  expect(match([9, 11, 15, 20, 25], notes)).toEqual([undefined, 1, undefined, 2, undefined]);
});

test('notes of another profiler’s samples are passed over', () => {
  expect(match([30], [note(1, 10_000, 11_000), note(2, 20_000, 21_000), note(3, 30_000, 31_000)])).toEqual([3]);
});

test('one note is for one sample', () => {
  expect(match([10, 10], [note(1, 10_000, 11_000)])).toEqual([1, undefined]);
});

const { js, idle } = SampleKind;

test('by count each busy sample weighs one interval', () => {
  expect([...weightsByCount(Uint8Array.of(js, idle, js), 1e6)]).toEqual([1e6, 0, 1e6]);
});

test('by CPU time busy samples of a stretch weigh the same, however long they came after a pause', () => {
  const cpuNs = Float64Array.of(100, 100, 160, 200);
  expect([...weightsByCpu(Uint8Array.of(js, idle, js, idle), cpuNs, 0)]).toEqual([100, 0, 100, 0]);
});

test('what was measured is what is divided, over many stretches and samples without a note', () => {
  const kind = Uint8Array.from({ length: 500 }, (_, i) => (i % 5 === 0 ? idle : js));
  const cpuNs = Float64Array.from(kind, (_, i) => (i % 7 === 0 ? Number.NaN : 1000 + i * i));
  const sum = weightsByCpu(kind, cpuNs, 1000).reduce((a, b) => a + b);
  expect(sum).toBeCloseTo(499 ** 2);
});

test('an idle thread weighs nothing', () => {
  expect([...weightsByCpu(Uint8Array.of(idle, idle), Float64Array.of(5, 9), 0)]).toEqual([0, 0]);
});

test.each([
  [true, [10, 30, 40], 1],
  [false, [10, 20, 30, 40], 0],
])('what V8 sampled without a signal is left out when every signal has its note: %s', (isComplete, us, unasked) => {
  const scopes = ['a', 'b'].map((value) => scopeOf(new DynamicLabel('query', value)));
  const table = new LabelTable();
  for (const scope of scopes) table.add(scope);
  const notes = {
    isComplete,
    notes: () => [note(scopes[0].id, 10_000, 11_000), note(scopes[1].id, 30_000, 31_000)].values(),
  };
  const before = stats().counters.samplesUnasked;
  const register = {
    notes: notes as NoteStore,
    table,
    first: NO_SCOPE,
    firstUs: 5,
    firstCpuNs: 0,
    last: NO_SCOPE,
    lastUs: 40,
  };
  const found = attributed(rawSamplesAt([10, 20, 30, 40]), { register }, 1000);
  expect([...found.samples.us]).toEqual(us);
  expect(found.scopes).toEqual(isComplete ? [...scopes, NO_SCOPE] : [scopes[0], 'lost', scopes[1], NO_SCOPE]);
  expect(stats().counters.samplesUnasked - before).toBe(unasked);
});
