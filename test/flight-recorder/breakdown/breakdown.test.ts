// Planted causes are named, who only waited is not blamed, and the line that a person reads adds up.
import { describe, expect, test } from 'vitest';
import { BreakdownIndex } from '../../../src/flight-recorder/breakdown/breakdown-index.js';
import { drawStalls, formatBreakdown } from '../../../src/flight-recorder/breakdown/format-breakdown.js';
import { stalls } from '../../../src/flight-recorder/breakdown/stalls.js';
import type { TimedSpan } from '../../../src/flight-recorder/breakdown/stretches.js';
import type { TimeBreakdown } from '../../../src/flight-recorder/breakdown/tally.js';
import { timeBreakdown } from '../../../src/flight-recorder/breakdown/time-breakdown.js';
import fc from '../../support/fast-check.js';
import { samples } from '../../support/samples.js';
import { busy, gc, part, pool, span, sumOf, turns } from './support/spans.js';

const ms = (value: number): number => value * 1000;
const ALL = [{ fromUs: 0, toUs: ms(1000) }];

// The case of the issue: a request that did 15 ms of work, waited 80 ms for the loop, and 25 ms for a database.
const slow = span('aa/1', 'GET /cart', [0, ms(120)]);
const render = span('aa/2<1', 'render', [ms(100), ms(115)], 'local');
const upload = span('bb/1', 'POST /import', [ms(5), ms(90)]);
const TIMELINE = [
  busy([ms(10), ms(90)], part(upload, [ms(10), ms(83)]), part(undefined, [ms(83), ms(90)], ['tick app.js:7'])),
  gc([ms(20), ms(31)]),
];
const index = new BreakdownIndex([slow, render, upload], TIMELINE, ALL);
const of = (which: TimedSpan, from = index): TimeBreakdown => timeBreakdown(from, which) as TimeBreakdown;

describe('timeBreakdown', () => {
  test('the time of a request is split among itself, others, collections, work without a span, and waiting', () => {
    const breakdown = of(slow);
    expect(breakdown).toEqual({
      durationUs: ms(120),
      ownUs: ms(15),
      gcUs: ms(11),
      othersUs: ms(62),
      others: [{ name: 'POST /import', traceId: 'bb', us: ms(62) }],
      untracedUs: ms(7),
      untracedFrames: [{ frames: ['tick app.js:7'], us: ms(7) }],
      shortUs: 0,
      waitingUs: ms(25),
      poolUs: 0,
      poolWaits: [],
      unknownUs: 0,
    });
    expect(formatBreakdown(breakdown)).toBe(
      '120 ms = own 15 + loop 80 (POST /import 62, gc 11, untraced 7) + waiting 25',
    );
  });

  test('the same stretch is the work of the one and the wait of the other', () => {
    expect(formatBreakdown(of(upload))).toBe('85.0 ms = own 62.0 + loop 18.0 (gc 11.0, untraced 7.0) + waiting 5.0');
  });

  test('without a timeline only local spans tell, and the rest is unknown', () => {
    expect(formatBreakdown(of(slow, new BreakdownIndex([slow, render, upload])))).toBe('120 ms = own 15 + unknown 105');
  });

  test('where the timeline was kept for a part only, the other part is unknown', () => {
    const half = new BreakdownIndex([slow], [], [{ fromUs: ms(60), toUs: ms(200) }]);
    expect(formatBreakdown(of(slow, half))).toBe('120 ms = waiting 60 + unknown 60');
  });

  test('a busy stretch that nothing explains is unknown, not waiting', () => {
    const unexplained = new BreakdownIndex([slow], [busy([ms(10), ms(50)])], ALL);
    expect(formatBreakdown(of(slow, unexplained))).toBe('120 ms = waiting 80 + unknown 40');
  });

  test('waiting while the thread pool was full says so, and nothing else is taken for it', () => {
    const hashes = 'other 8 (crypto/pbkdf2)';
    // Of the stretch from 85 to 112 the loop was busy, or a local span ran, up to 90 and from 100 on; the other two overlap.
    const timeline = [...TIMELINE, pool([ms(2), ms(5)]), pool([ms(4), ms(6)]), pool([ms(85), ms(112)], hashes)];
    const breakdown = of(slow, new BreakdownIndex([slow, render, upload], timeline, ALL));
    expect(breakdown).toMatchObject({ waitingUs: ms(25), poolUs: ms(14), ownUs: ms(15), untracedUs: ms(7) });
    expect(breakdown.poolWaits).toEqual([
      { requests: hashes, us: ms(10) },
      { requests: 'dns.lookup 12', us: ms(4) },
    ]);
    expect(sumOf(breakdown)).toBe(breakdown.durationUs);
    expect(formatBreakdown(breakdown)).toContain(` + waiting 25 (thread pool full 14: ${hashes})`);
  });

  test('what the loop worked in short turns is not waiting, and a local span among it has its own', () => {
    // 24 ms of work in pieces of 3 ms, as one row: of it `render` has 6.
    const request = span('aa/1', 'GET /cart', [ms(10), ms(34)]);
    const piece = span('aa/2<1', 'render', [ms(12), ms(18)], 'local');
    const row = turns([ms(10), ms(34)], ms(0.4));
    const breakdown = of(request, new BreakdownIndex([request, piece], [row], ALL));
    expect(breakdown).toMatchObject({ ownUs: ms(6), shortUs: ms(17.6), waitingUs: ms(0.4), unknownUs: 0 });
    expect(formatBreakdown(breakdown)).toBe('24.0 ms = own 6.0 + short work 17.6 + waiting 0.4');
  });

  test('who had a part of some short turns has as large a part of their work', () => {
    // Of the 30 ms that nobody is known to have had the loop was idle for 20.
    const row = turns([ms(100), ms(140)], ms(20));
    const first = span('aa/1', 'first', [ms(90), ms(115)]);
    const timeline = [row, busy([ms(110), ms(120)]), pool([ms(120), ms(130)])];
    const shared = new BreakdownIndex([first], timeline, ALL);
    expect(of(first, shared)).toMatchObject({ shortUs: 3333.25, waitingUs: 16_666.75, unknownUs: ms(5), poolUs: 0 });
    const second = span('bb/1', 'second', [ms(118), ms(150)]);
    const other = of(second, new BreakdownIndex([second], timeline, ALL));
    // Of the time in which the pool was full, what the loop worked is not waited.
    expect(other).toMatchObject({ shortUs: 6666.5, waitingUs: 23_333.5, unknownUs: ms(2), poolUs: 6666.75 });
    expect(sumOf(other)).toBe(other.durationUs);
    // It has waited more than what nobody had: the work is all known.
    const idle = new BreakdownIndex([second], [turns([ms(100), ms(140)], ms(39)), busy([ms(110), ms(120)])], ALL);
    expect(of(second, idle)).toMatchObject({ shortUs: 0, waitingUs: ms(30) });
  });

  test('where no timeline was kept short turns tell nothing', () => {
    const half = new BreakdownIndex([slow], [turns([0, ms(90)], 0)], [{ fromUs: ms(60), toUs: ms(200) }]);
    expect(of(slow, half)).toMatchObject({ shortUs: ms(30), waitingUs: ms(30), unknownUs: ms(60) });
  });

  test('where no timeline was kept a full pool tells nothing of the loop', () => {
    const half = new BreakdownIndex([slow], [pool([0, ms(90)])], [{ fromUs: ms(60), toUs: ms(200) }]);
    expect(of(slow, half)).toMatchObject({ waitingUs: ms(60), poolUs: ms(30), unknownUs: ms(60) });
  });

  test('nested local spans count once, for each that is asked', () => {
    const inner = span('aa/3<2', 'escape', [ms(102), ms(110)], 'local');
    const nested = new BreakdownIndex([slow, render, inner], [], ALL);
    expect(of(slow, nested).ownUs).toBe(ms(15));
    expect(of(render, nested).ownUs).toBe(ms(15));
    expect(of(inner, nested)).toMatchObject({ ownUs: ms(8), durationUs: ms(8) });
  });

  test('a span above and a span beside count as others: they had the loop', () => {
    const query = span('aa/4<1', 'SELECT', [ms(90), ms(118)]);
    const siblings = new BreakdownIndex([slow, render, query], [], ALL);
    expect(of(query, siblings).others).toEqual([{ name: 'render', traceId: 'aa', us: ms(15) }]);
  });

  test('a span of the same trace that is not there may be above or below: unknown; of another trace it is other', () => {
    const gone = { ...span('aa/9', 'gone', [0, 1]) };
    const elsewhere = { ...gone, traceId: 'cc' };
    const timeline = [busy([ms(10), ms(30)], part(gone, [ms(10), ms(20)]), part(elsewhere, [ms(20), ms(30)]))];
    const breakdown = of(slow, new BreakdownIndex([slow], timeline, ALL));
    expect(breakdown).toMatchObject({ unknownUs: ms(10), othersUs: ms(10), waitingUs: ms(100) });
  });

  test('a span that was current within a local span and is below it is what ran', () => {
    const inner = span('aa/5<2', 'hook', [ms(101), ms(130)]);
    const timeline = [busy([ms(100), ms(115)], part(inner, [ms(105), ms(110)]))];
    const both = new BreakdownIndex([slow, render, inner], timeline, ALL);
    expect(of(inner, both).ownUs).toBe(ms(5));
    expect(of(render, both).ownUs).toBe(ms(15));
  });

  test('others are named by how long they had the loop, three of them, over all their spans', () => {
    const spans = [1, 2, 3, 4, 5].map((i) => span(`t${i % 4}/${i}`, `job ${i % 4}`, [ms(10 * i), ms(11 * i)], 'local'));
    const many = new BreakdownIndex([slow, ...spans], [], ALL);
    expect(of(slow, many).others.map(({ name, us }) => [name, us])).toEqual([
      ['job 1', ms(6)],
      ['job 0', ms(4)],
      ['job 3', ms(3)],
    ]);
    expect(formatBreakdown(of(slow, many))).toBe(
      '120 ms = loop 15 (job 1 6, job 0 4, job 3 3, others 2) + waiting 105',
    );
  });

  test('Unix times as doubles add up exactly', () => {
    const base = 1_764_000_000_000_000;
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.tuple(share, share, share, share), (shares) => {
        const [a, b, c, d] = shares.map((one) => base + 1e6 * one).sort((x, y) => x - y);
        const outer = span('aa/1', 'a', [a, d]);
        const inner = span('aa/2<1', 'b', [b, c], 'local');
        const breakdown = of(outer, new BreakdownIndex([outer, inner], [gc([a + 0.3, b])], [{ fromUs: a, toUs: c }]));
        expect(sumOf(breakdown)).toBe(breakdown.durationUs);
        expect(breakdown.durationUs).toBe(d - a);
      }),
      { numRuns: samples(200, 2000, 100_000) },
    );
  });

  test('a span that is not there has no breakdown, one of no length no parts, and ids in a circle end', () => {
    const circle = [span('aa/7<8', 'a', [0, 10]), span('aa/8<7', 'b', [0, 10], 'local'), span('aa/9<9', 'c', [5, 5])];
    const odd = new BreakdownIndex(circle);
    expect(timeBreakdown(odd, { traceId: 'zz', spanId: '7' })).toBeUndefined();
    expect(formatBreakdown(of(circle[2], odd))).toBe('0.00 µs = 0.00');
    expect(of(circle[0], odd).ownUs).toBe(10);
  });

  test('many spans, one below the other and side by side, have breakdowns', () => {
    const spans: TimedSpan[] = [];
    for (let i = 0; i < samples(25_000, 250_000); i++) {
      const parentSpanId = i === 0 ? '' : `d${i - 1}`;
      spans.push({ ...span('deep/0', 'level', [i, 1_000_000 - i], 'local'), spanId: `d${i}`, parentSpanId });
      spans.push(span(`t${i}/1`, 'GET /', [i * 4, i * 4 + 2000]));
    }
    const timeline = Array.from({ length: 4096 }, (_, i) =>
      busy([i * 240, i * 240 + 100], part(spans[1], [i * 240, i * 240 + 50])),
    );
    const large = new BreakdownIndex(spans, timeline, ALL);
    expect(of(spans[0], large).ownUs).toBe(1_000_000);
    expect(of(spans[1], large).othersUs).toBe(2000);
    expect(stalls(large, 5)).toHaveLength(5);
  });
});

describe('formatBreakdown', () => {
  const parts = (durationUs: number, others: Partial<TimeBreakdown>): TimeBreakdown => ({
    durationUs,
    ownUs: 0,
    gcUs: 0,
    othersUs: 0,
    others: [],
    untracedUs: 0,
    untracedFrames: [],
    shortUs: 0,
    waitingUs: 0,
    poolUs: 0,
    poolWaits: [],
    unknownUs: 0,
    ...others,
  });

  test.each([
    [
      parts(1_000_000, { ownUs: 333_333, gcUs: 333_333, waitingUs: 333_334 }),
      '1.00 s = own 0.33 + loop 0.33 (gc 0.33) + waiting 0.34',
    ],
    [parts(12, { ownUs: 11.75, unknownUs: 0.25 }), '12.0 µs = own 11.8 + unknown 0.2'],
    [parts(120_000, { ownUs: 400, waitingUs: 119_600 }), '120 ms = waiting 120'],
    [
      parts(120_000, { waitingUs: 120_000, poolUs: 20_400, poolWaits: [{ requests: 'fs 9', us: 20_400 }] }),
      '120 ms = waiting 120 (thread pool full 20: fs 9)',
    ],
    [
      parts(120_000, { waitingUs: 120_000, poolUs: 600, poolWaits: [{ requests: '', us: 600 }] }),
      '120 ms = waiting 120 (thread pool full 1)',
    ],
    [
      parts(120_000, { waitingUs: 120_000, poolUs: 400, poolWaits: [{ requests: '', us: 400 }] }),
      '120 ms = waiting 120',
    ],
    [
      parts(24_000, { ownUs: 900, shortUs: 22_700, waitingUs: 400 }),
      '24.0 ms = own 0.9 + short work 22.7 + waiting 0.4',
    ],
    [parts(3, { gcUs: 1, waitingUs: 1, unknownUs: 1 }), '3.00 µs = loop 1.00 (gc 1.00) + waiting 1.00 + unknown 1.00'],
  ])('%#', (breakdown, text) => {
    expect(formatBreakdown(breakdown)).toBe(text);
  });

  test('the numbers shown add up, whatever they are', () => {
    const part = fc.oneof(fc.constant(0), fc.nat(400), fc.nat(400_000), fc.nat(160_000_000)).map((n) => n / 4);
    const add = (list: readonly number[]): number => list.reduce((sum, value) => sum + value, 0);
    const numbers = (of: string): number[] => (of.match(/[\d.]+(?=$|[ ,)])/g) ?? []).map(Number);
    const nine = fc.array(part, { minLength: 9, maxLength: 9 });
    fc.assert(
      fc.property(nine, ([ownUs, gcUs, untracedUs, shortUs, waitingUs, unknownUs, a, b, rest]) => {
        const others = [
          { name: 'x', traceId: '1', us: a },
          { name: 'y', traceId: '2', us: b },
        ];
        const given = { ownUs, gcUs, untracedUs, shortUs, waitingUs, unknownUs, others, othersUs: a + b + rest };
        const text = formatBreakdown(parts(sumOf(parts(0, given)), given));
        const [before, after] = text.split(' = ');
        const [total] = numbers(before);
        const loop = / loop ([\d.]+) \(([^)]*)\)/.exec(` ${after}`);
        const outside = numbers(after.replace(/ \([^)]*\)/, ''));
        expect(add(outside), text).toBeCloseTo(total, 6);
        if (loop !== null) expect(add(numbers(loop[2])), text).toBeCloseTo(Number(loop[1]), 6);
      }),
      { numRuns: samples(500, 5000, 200_000) },
    );
  });

  test('a name cannot reach the terminal as anything but text', () => {
    const others = [{ name: '\u001b[31mred\n', traceId: '1', us: 10 }];
    expect(formatBreakdown(parts(10, { othersUs: 10, others }))).toBe('10.0 µs = loop 10.0 (\\x1b[31mred\\n 10.0)');
  });
});

describe('stalls', () => {
  const other = span('cc/1', 'GET /health', [ms(50), ms(95)]);
  const twice = span('cc/2<1', 'write', [ms(60), ms(70)]);
  const full = new BreakdownIndex(
    [slow, render, upload, other, twice],
    [...TIMELINE, busy([ms(200), ms(260)], part(upload, [ms(200), ms(210)]))],
    ALL,
  );

  test('the longest first, with who had the loop and who waited for how long', () => {
    const [worst, next] = stalls(full);
    expect(worst).toMatchObject({
      startUs: ms(10),
      durationUs: ms(80),
      spansUs: ms(62),
      holders: [{ name: 'POST /import', traceId: 'bb', us: ms(62) }],
      gcUs: ms(11),
      untracedUs: ms(7),
      unknownUs: 0,
      // The import itself waited for the collection and for the work without a span.
      waiters: [
        { name: 'GET /cart', traceId: 'aa', us: ms(80) },
        { name: 'GET /health', traceId: 'cc', us: ms(40) },
        { name: 'POST /import', traceId: 'bb', us: ms(18) },
      ],
      waiterCount: 3,
      waitedUs: ms(138),
    });
    expect(next).toMatchObject({ durationUs: ms(60), spansUs: ms(10), unknownUs: ms(50), waiterCount: 0 });
    expect(stalls(full, 1)).toEqual([worst]);
  });

  test('a full thread pool is a stall too: from its first probe to its last, with who waited', () => {
    const query = span('dd/1', 'GET /login', [ms(300), ms(420)]);
    const work = span('dd/2<1', 'render', [ms(310), ms(315)], 'local');
    const hashes = 'other 8 (crypto/pbkdf2)';
    const rows = [pool([ms(302), ms(350)], hashes), pool([ms(350.5), ms(410)]), pool([ms(500), ms(506)])];
    const [one, two, ...more] = stalls(new BreakdownIndex([query, work], rows, ALL));
    expect(more).toEqual([]);
    expect(one).toMatchObject({
      ...{ kind: 'pool', startUs: ms(302), durationUs: ms(108) },
      ...{ spansUs: ms(5), idleUs: ms(103), unknownUs: 0, gcUs: 0, untracedUs: 0 },
      poolWaits: [
        { requests: 'dns.lookup 12', us: ms(59.5) },
        { requests: hashes, us: ms(43) },
      ],
      waiters: [{ name: 'GET /login', traceId: 'dd', us: ms(102.5) }],
    });
    expect(two).toMatchObject({ kind: 'pool', startUs: ms(500), durationUs: ms(6), waiterCount: 0 });
    expect(drawStalls([two])).toBe(`1970-01-01 00:00:00.500  6.00 ms
  thread pool full: dns.lookup 12 6.00 ms
  loop: free 6.00 ms
  nobody waited
`);
  });

  test('those that overlap a window', () => {
    expect(stalls(full, 20, { fromUs: ms(95), toUs: ms(200) }).map(({ startUs }) => startUs)).toEqual([ms(200)]);
    expect(stalls(full, 20, { fromUs: 0, toUs: ms(9) })).toEqual([]);
  });

  test('as text', () => {
    expect(drawStalls(stalls(full))).toBe(`1970-01-01 00:00:00.010  80.0 ms
  loop: POST /import [bb] 62.0 ms, gc 11.0 ms, untraced 7.00 ms (tick app.js:7 7.00 ms)
  3 traces waited 138 ms in all: GET /cart [aa] 80.0 ms, GET /health [cc] 40.0 ms, POST /import [bb] 18.0 ms
1970-01-01 00:00:00.200  60.0 ms
  loop: POST /import [bb] 10.0 ms, unknown 50.0 ms
  nobody waited
`);
    expect(drawStalls([])).toBe('');
  });
});
