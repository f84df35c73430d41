// Each sample goes to the one span it worked for and to the spans above it; what may belong to two belongs to none; none is lost.
import { describe, expect, test } from 'vitest';
import type { SpanRecord } from '../../../../src/record/record.js';
import { type JoinedProfile, joinProfile, SampleKind } from '../../src/index.js';
import { labelOf, local, profileOf, type SampleParts, span, THREAD, traceOf } from './support/spans-and-samples.js';

const OTHER_THREAD = 0xb0000002;

/** `self/total` samples by the names of the spans that have any. */
const figures = (joined: JoinedProfile, records: readonly SpanRecord[]): Record<string, string> =>
  Object.fromEntries(
    records.flatMap((record) => {
      const cpu = joined.cpuOf(record);
      return cpu === undefined ? [] : [[record.name, `${cpu.self.samples}/${cpu.total.samples}`]];
    }),
  );

const joined = (samples: readonly SampleParts[], records: readonly SpanRecord[]): Record<string, string> =>
  figures(joinProfile(profileOf(samples), records), records);

describe('a sample with the label of a span', () => {
  const records = [
    span({ id: 1, fromUs: 0, toUs: 1000 }),
    span({ id: 2, parent: 1, fromUs: 100, toUs: 900 }),
    local({ id: 3, parent: 2, fromUs: 200, toUs: 500 }),
    local({ id: 4, parent: 3, fromUs: 300, toUs: 400 }),
    local({ id: 5, parent: 1, fromUs: 0, toUs: 1000 }),
  ];

  test.each([
    ['goes to that span', 150, { s2: '1/1', s1: '0/1' }],
    ['goes to a local span open inside it', 250, { s3: '1/1', s2: '0/1', s1: '0/1' }],
    ['goes to the innermost of them', 350, { s4: '1/1', s3: '0/1', s2: '0/1', s1: '0/1' }],
    ['goes to a local span from its first moment', 200, { s3: '1/1', s2: '0/1', s1: '0/1' }],
    ['goes to a local span until just before its last', 500, { s2: '1/1', s1: '0/1' }],
  ])('%s', (_, us, wanted) => {
    expect(joined([{ us, label: labelOf(2) }], records)).toEqual(wanted);
  });

  test('does not go to a local span of another', () => {
    expect(joined([{ us: 950, label: labelOf(2) }], records)).toEqual({ s2: '1/1', s1: '0/1' });
  });

  test('does not go to a child span that is open too: that one works when its own label is there', () => {
    const children = [span({ id: 1, fromUs: 0, toUs: 99 }), span({ id: 2, parent: 1, fromUs: 0, toUs: 99 })];
    expect(joined([{ us: 50, label: labelOf(1) }], children)).toEqual({ s1: '1/1' });
  });

  test('goes nowhere when the span is not among the records', () => {
    const { attributed, unattributed } = joinProfile(profileOf([{ us: 350, label: labelOf(77) }]), records);
    expect([attributed.samples, unattributed.samples]).toEqual([0, 1]);
  });

  test('goes nowhere when the label is not an id', () => {
    const hostile = ['', 'x', '4bf9', '0'.repeat(17), 'g'.repeat(16), 7];
    const samples = hostile.map((id) => ({ us: 2000, label: { span_id: id } }));
    expect(joinProfile(profileOf(samples), records).unattributed.samples).toBe(hostile.length);
  });

  test('is found when the spans are in any order', () => {
    expect(joined([{ us: 350, label: labelOf(2) }], [...records].reverse())).toEqual({
      s4: '1/1',
      s3: '0/1',
      s2: '0/1',
      s1: '0/1',
    });
  });
});

describe('a sample without the label of a span', () => {
  const records = [
    span({ id: 1, fromUs: 0, toUs: 1000 }),
    local({ id: 2, parent: 1, fromUs: 100, toUs: 500 }),
    local({ id: 3, parent: 2, fromUs: 200, toUs: 300 }),
  ];
  // One that shows of which thread the profile is.
  const known = { us: 999, label: labelOf(1) };

  test('goes to the innermost local span of the thread that was open', () => {
    expect(joined([known, { us: 250 }], records)).toEqual({ s3: '1/1', s2: '0/1', s1: '1/2' });
  });

  test('goes there also with labels of the user', () => {
    expect(joined([known, { us: 250, label: { query: 'q' } }], records)).toEqual({ s3: '1/1', s2: '0/1', s1: '1/2' });
  });

  test.each(['lost', 'overflow'] as const)('goes nowhere when its label was %s: it may have named another', (label) => {
    expect(joined([known, { us: 250, label }], records)).toEqual({ s1: '1/1' });
  });

  test('goes nowhere while only a span across tasks was open', () => {
    expect(joined([known, { us: 50 }], records)).toEqual({ s1: '1/1' });
  });

  test('goes nowhere when the local span is of another thread, or of one that is not known', () => {
    const elsewhere = [
      span({ id: 1, fromUs: 0, toUs: 999 }),
      local({ id: 9, fromUs: 0, toUs: 999, thread: OTHER_THREAD }),
    ];
    expect(joined([known, { us: 250 }], elsewhere)).toEqual({ s1: '1/1' });
    expect(joined([{ us: 250 }], records)).toEqual({});
    const reported = joinProfile(profileOf([{ us: 250 }]), records, { isSameThread: true });
    expect(figures(reported, records)).toEqual({ s3: '1/1', s2: '0/1', s1: '0/1' });
  });

  test('goes nowhere when local spans were held open across each other', () => {
    const crossing = [
      span({ id: 1, fromUs: 0, toUs: 1000 }),
      local({ id: 2, parent: 1, fromUs: 100, toUs: 500 }),
      local({ id: 3, parent: 1, fromUs: 200, toUs: 700 }),
    ];
    expect(joined([known, { us: 150 }, { us: 250 }, { us: 600 }], crossing)).toEqual({ s1: '1/1' });
  });

  test('goes nowhere when one local span ran inside another that is not its parent', () => {
    const around = [
      span({ id: 1, fromUs: 0, toUs: 1000 }),
      local({ id: 2, parent: 1, fromUs: 100, toUs: 700 }),
      local({ id: 3, parent: 1, fromUs: 200, toUs: 300 }),
    ];
    expect(joined([known, { us: 250 }], around)).toEqual({ s1: '1/1' });
  });
});

test('idle time and garbage collection are of no span; native code with a label is', () => {
  const records = [span({ id: 1, fromUs: 0, toUs: 1000 })];
  const label = labelOf(1);
  const { attributed, unattributed } = joinProfile(
    profileOf([
      { us: 1, label, kind: SampleKind.idle },
      { us: 2, label, kind: SampleKind.gc },
      { us: 3, label, kind: SampleKind.program },
      { us: 4, kind: SampleKind.program },
    ]),
    records,
  );
  expect([attributed.samples, unattributed.samples]).toEqual([1, 1]);
});

test('sums are of CPU time, and the standard error is the root of the sum of the squares', () => {
  const records = [span({ id: 1, fromUs: 0, toUs: 1000 }), span({ id: 2, parent: 1, fromUs: 0, toUs: 1000 })];
  const joinedNow = joinProfile(
    profileOf([
      { us: 1, label: labelOf(1), cpuNs: 3e6 },
      { us: 2, label: labelOf(2), cpuNs: 4e6 },
      { us: 3, label: labelOf(2), cpuNs: 12e6 },
    ]),
    records,
  );
  expect(joinedNow.cpuOf(records[0])).toEqual({
    self: { ns: 3e6, samples: 1, stderrNs: 3e6 },
    total: { ns: 19e6, samples: 3, stderrNs: 13e6 },
  });
  expect(joinedNow.cpuOf(records[1])?.self.stderrNs).toBeCloseTo(Math.sqrt(160) * 1e6, 3);
  expect([...joinedNow.traces.values()]).toEqual([{ ns: 19e6, samples: 3, stderrNs: 13e6 }]);
});

test('a span in several traces did its work once, and every trace shows it', () => {
  const [a, b] = [traceOf(1), traceOf(2)];
  const records = [
    span({ id: 1, fromUs: 0, toUs: 1000, trace: a, name: 'a' }),
    span({ id: 2, fromUs: 0, toUs: 1000, trace: b, name: 'b' }),
    span({ id: 3, parent: 1, fromUs: 0, toUs: 1000, trace: a, name: 'in a' }),
    span({ id: 3, parent: 2, fromUs: 0, toUs: 1000, trace: b, name: 'in b' }),
  ];
  const result = joinProfile(profileOf([{ us: 5, label: labelOf(3) }]), records);
  expect(figures(result, records)).toEqual({ a: '0/1', b: '0/1', 'in a': '1/1', 'in b': '1/1' });
  expect(result.attributed.samples).toBe(1);
  expect(Array.from(result.traces.values(), ({ samples }) => samples)).toEqual([1, 1]);
});

test('several profiles add up, each by its own clock', () => {
  const records = [span({ id: 1, fromUs: 0, toUs: 1000 }), local({ id: 2, parent: 1, fromUs: 100, toUs: 200 })];
  const label = labelOf(1);
  const later = profileOf([{ us: 150, label }], 1_750_000_001);
  const result = joinProfile([profileOf([{ us: 150, label }]), later], records);
  expect(figures(result, records)).toEqual({ s1: '1/2', s2: '1/1' });
});

test('parents that form a ring, or are not there, end nothing', () => {
  const records = [
    local({ id: 1, parent: 2, fromUs: 0, toUs: 100 }),
    local({ id: 2, parent: 1, fromUs: 0, toUs: 100 }),
    span({ id: 3, parent: 99, fromUs: 0, toUs: 100 }),
    span({ id: 4, parent: 4, fromUs: 0, toUs: 100 }),
  ];
  expect(
    joined(
      [3, 4, 1].map((id) => ({ us: 200, label: labelOf(id) })),
      records,
    ),
  ).toEqual({
    s1: '1/1',
    s2: '0/1',
    s3: '1/1',
    s4: '1/1',
  });
});

test('nothing joined with nothing is nothing', () => {
  const { attributed, unattributed, traces } = joinProfile([], []);
  expect([attributed.samples, unattributed.samples, traces.size]).toEqual([0, 0, 0]);
  expect(joinProfile(profileOf([{ us: 1, label: labelOf(1, THREAD) }]), []).unattributed.samples).toBe(1);
});
