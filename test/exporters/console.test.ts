// A trace prints as a tree that a person can read, whatever the spans hold, and nothing in it can steer a terminal.
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { ConsoleReporter, renderTrace } from '../../src/exporters/console.js';
import { wantsColors } from '../../src/formats/terminal/palette.js';
import { spanTree } from '../../src/formats/terminal/trace-tree.js';
import { formatDuration } from '../../src/formats/terminal/values.js';
import { EventRecord, type SpanRecord } from '../../src/record/record.js';
import fc from '../support/fast-check.js';
import { samples } from '../support/samples.js';
import { anySpan } from './jaeger/support/any-span.js';
import { batchOf, numberedRecords, record } from './support/records.js';

const at = (us: number): [sec: number, nano: number] => [1_700_000_000 + Math.floor(us / 1e6), (us % 1e6) * 1000];

const QUERY: SpanRecord[] = [
  record({
    id: [1, 1],
    name: 'GET /query',
    kind: 'server',
    start: at(0),
    end: at(1000),
    properties: ['http.route', '/query/:id', 'q', 'a b', 'ids', [1n, 2n], 'hit', false],
  }),
  record({
    id: [1, 4],
    parent: [1, 1],
    name: 'join',
    start: at(700),
    end: at(990),
    status: { code: 'error', message: 'no table' },
  }),
  record({
    id: [1, 2],
    parent: [1, 1],
    name: 'read',
    start: at(100),
    end: at(600),
    events: [new EventRecord('cache miss', ...at(150), ['key', 'k1'])],
    links: [{ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), properties: { why: 'retry' } }],
  }),
  record({ id: [1, 3], parent: [1, 2], name: 'decode', start: at(200), end: at(201) }),
  record({ id: [1, 5], parent: [9, 9], name: 'lost', start: at(800), end: at(801) }),
];

const deep = (depth: number): SpanRecord[] =>
  Array.from({ length: depth }, (_, i) => record({ id: [1, i + 1], parent: [i === 0 ? 0 : 1, i], name: `level ${i}` }));

const ESCAPE = '\u001b';

describe('renderTrace', () => {
  test('durations, bars, properties, events, links, errors and a missing parent', () => {
    expect(renderTrace(QUERY, { barWidth: 10, serviceName: 'shop' })).toBe(`\
trace 0af7651916cd43dd8448eb211c80319c · shop · 5 spans · 1.00 ms
GET /query    1.00 ms  ━━━━━━━━━━  server  http.route=/query/:id q="a b" ids=[1, 2] hit=false
├─ read        500 µs   ━━━━━
│  │  • 150 µs cache miss key=k1
│  │  → aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/bbbbbbbbbbbbbbbb why=retry
│  └─ decode  1.00 µs    ━
└─ join        290 µs         ━━━  error: no table
lost          1.00 µs          ━   (parent 0000000900000009 missing)
`);
  });

  test('options leave things out', () => {
    expect(renderTrace(QUERY, { barWidth: 0, properties: false, events: false, maxSpans: 3 })).toBe(`\
trace 0af7651916cd43dd8448eb211c80319c · 5 spans · 1.00 ms
GET /query    1.00 ms  server
├─ read        500 µs
│  └─ decode  1.00 µs
… 2 more spans
`);
    expect(renderTrace([])).toBe('');
  });

  test('colours: errors red, and without the codes the same text', () => {
    const coloured = renderTrace(QUERY, { colors: true });
    expect(coloured).toContain(`${ESCAPE}[31mjoin${ESCAPE}[39m`);
    expect(coloured).toContain(`${ESCAPE}[31merror: no table${ESCAPE}[39m`);
    const bare = coloured.replaceAll(new RegExp(`${ESCAPE}\\[\\d+m`, 'g'), '').replaceAll(/ +$/gm, '');
    expect(bare.replaceAll(/ +/g, ' ')).toBe(renderTrace(QUERY).replaceAll(/ +/g, ' '));
  });

  test('whatever a span says, no control character and no line but ours gets out', () => {
    fc.assert(
      fc.property(fc.array(anySpan, { minLength: 1, maxLength: 6 }), (spans) => {
        const text = renderTrace(spans, { serviceName: `a${ESCAPE}[2Jb` });
        expect(text).not.toMatch(/[\p{Bidi_Control}\u2028\u2029]/u);
        expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
        const rows = spans.reduce((sum, span) => sum + 1 + span.events.length + span.links.length, 0);
        expect(text.split('\n').length).toBe(rows + 2);
      }),
      { numRuns: samples(25, 200, 2000) },
    );
  });

  test('escapes are readable', () => {
    const evil = record({ name: `a${ESCAPE}[31m\n\t\u009b\u202e`, properties: ['k\r', 'v\u0007'] });
    expect(renderTrace([evil])).toContain('a\\x1b[31m\\n\\t\\x9b\\u202e');
    expect(renderTrace([evil])).toContain('k\\r="v\\x07"');
  });

  test('a tree of 20,000 levels', () => {
    const text = renderTrace(deep(20_000), { maxSpans: 20_000 });
    expect(text.split('\n')).toHaveLength(20_002);
    expect(text).toContain('[19999] level 19999');
    expect(text.length).toBeLessThan(6_000_000);
  });
});

describe('spanTree', () => {
  test('names only, siblings by start', () => {
    expect(spanTree(QUERY)).toBe('GET /query\n  read\n    decode\n  join\nlost (parent missing)');
  });

  test('a remote parent is not missing', () => {
    expect(spanTree([record({ parent: [7, 7], hasRemoteParent: true })])).toBe('read');
  });

  test('circles, spans that are their own parent and equal ids: every span once', () => {
    const spans = [
      record({ name: 'self', id: [2, 1], parent: [2, 1] }),
      record({ name: 'a', id: [2, 2], parent: [2, 3] }),
      record({ name: 'b', id: [2, 3], parent: [2, 2] }),
      record({ name: 'twin 1', id: [2, 4] }),
      record({ name: 'twin 2', id: [2, 4] }),
      record({ name: 'child', id: [2, 5], parent: [2, 4] }),
    ];
    expect(spanTree(spans)).toBe('self (parent missing)\ntwin 1\n  child\ntwin 2\na (parent missing)\n  b');
  });

  test('20,000 levels', () => {
    expect(spanTree(deep(20_000)).split('\n').at(-1)).toBe(`${'  '.repeat(100)}[19999] level 19999`);
  });

  test('random parentage: every span once, a child below its parent', () => {
    const spansOf = (parents: number[]): SpanRecord[] =>
      parents.map((parent, i) => record({ name: `${i}`, id: [1, i + 1], parent: [1, parent], start: at(i) }));
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 30 }), (parents) => {
        const lines = spanTree(spansOf(parents))
          .split('\n')
          .filter((line) => line !== '');
        const names = lines.map((line) => Number.parseInt(line.trim(), 10));
        expect(names.toSorted((a, b) => a - b)).toEqual(parents.map((_, i) => i));
        const depth = (line: string): number => (line.length - line.trimStart().length) / 2;
        for (const [i, line] of lines.entries()) {
          if (depth(line) === 0) continue;
          const above = lines.slice(0, i).findLastIndex((other) => depth(other) === depth(line) - 1);
          expect(parents[names[i]]).toBe(names[above] + 1);
        }
      }),
    );
  });
});

test.each([
  [0, '0 ns'],
  [85, '85 ns'],
  [999, '999 ns'],
  [1234, '1.23 µs'],
  [12_345, '12.3 µs'],
  [999_499, '999 µs'],
  [999_500, '1.00 ms'],
  [9_996_000, '10.0 ms'],
  [3_456_000_000, '3.46 s'],
  [345_000_000_000, '345 s'],
])('%i ns prints as %s', (ns, text) => {
  expect(formatDuration(ns)).toBe(text);
});

test.each([
  [{ isTTY: true }, {}, true],
  [{ isTTY: true }, { TERM: 'dumb' }, false],
  [{ isTTY: true }, { NO_COLOR: '1' }, false],
  [{ isTTY: true }, { NO_COLOR: '' }, true],
  [{ isTTY: true }, { FORCE_COLOR: '0' }, false],
  [{}, {}, false],
  [{}, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
])('colours for %j in %j: %s', (stream, env, expected) => {
  expect(wantsColors(stream, env)).toBe(expected);
});

describe('ConsoleReporter', () => {
  // Newer versions of Node read one chunk at a time.
  const written = (stream: PassThrough): string => {
    let text = '';
    for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) text += chunk;
    return text;
  };

  test('prints each trace, in report and in reportSync', async () => {
    const stream = new PassThrough();
    const reporter = new ConsoleReporter({ stream });
    await reporter.report(batchOf([QUERY, numberedRecords(2)]));
    const expected =
      renderTrace(QUERY, { serviceName: 'shop' }) + renderTrace(numberedRecords(2), { serviceName: 'shop' });
    expect(written(stream)).toBe(expected);
    reporter.reportSync(batchOf([QUERY]));
    expect(written(stream)).toBe(renderTrace(QUERY, { serviceName: 'shop' }));
    expect(reporter.stats()).toEqual({ tracesPrinted: 3, spansPrinted: 12, tracesSkipped: 0 });
  });

  test('short traces are counted, not printed', async () => {
    const stream = new PassThrough();
    const reporter = new ConsoleReporter({ stream, minDurationMs: 1 });
    await reporter.report(batchOf([[QUERY[1]], QUERY]));
    expect(written(stream)).toBe(renderTrace(QUERY, { serviceName: 'shop' }));
    expect(reporter.stats()).toMatchObject({ tracesPrinted: 1, tracesSkipped: 1 });
  });

  test('waits for a slow stream instead of filling memory', async () => {
    let resume: (() => void) | undefined;
    let chunks = 0;
    const stream = new Writable({
      highWaterMark: 1,
      write(_chunk, _encoding, done) {
        chunks++;
        resume = done;
      },
    });
    const reporter = new ConsoleReporter({ stream });
    const report = reporter.report(batchOf([QUERY, QUERY, QUERY]));
    for (let i = 1; i <= 3; i++) {
      await new Promise(setImmediate);
      expect([chunks, stream.writableLength > 0]).toEqual([i, true]);
      resume?.();
    }
    await report;
  });

  test('a stream that breaks or stays full fails the report for good', async () => {
    const broken = new Writable({ write: (_chunk, _encoding, done) => done(new Error('gone')), highWaterMark: 1 });
    const lost = expect.objectContaining({ code: 'ERR_SPANLINE_CONSOLE', retryable: false });
    const reporter = new ConsoleReporter({ stream: broken });
    await expect(reporter.report(batchOf([QUERY]))).rejects.toThrow(lost);
    await expect(reporter.report(batchOf([QUERY]))).rejects.toThrow(lost);
    const full = new Writable({ write: () => {}, highWaterMark: 1 });
    const abort = new AbortController();
    const report = new ConsoleReporter({ stream: full }).report(batchOf([QUERY], undefined, abort.signal));
    abort.abort();
    await expect(report).rejects.toThrow(lost);
    expect(full.listenerCount('drain')).toBe(0);
  });

  test.each([
    [{ colors: 'yes' }, '"colors"'],
    [{ stream: {} }, '"stream"'],
    [{ minDurationMs: -1 }, '"minDurationMs"'],
    [{ maxSpans: '5' }, '"maxSpans"'],
    [{ color: true }, '"color"'],
  ])('wrong options %j name themselves', (options, name) => {
    expect(() => new ConsoleReporter(options as object)).toThrow(
      expect.objectContaining({ code: 'ERR_SPANLINE_OPTION', message: expect.stringContaining(name) }),
    );
  });
});
