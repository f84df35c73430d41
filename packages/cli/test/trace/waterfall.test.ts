// A trace is drawn as wide as asked and no wider, with every span in its place in the tree and in time; what is odd about it, absent
// parents, circles, depth, errors, hostile names, is shown and breaks nothing.

import { describe, expect, test } from 'vitest';
import { UNICODE } from '../../../../src/formats/terminal/palette.js';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { summaryOf } from '../../../archive/src/span-list.js';
import { anySpan, FULL_SPAN } from '../../../archive/test/support/any-span.js';
import { spanAt } from '../../../archive/test/support/traces.js';
import { ASCII, glyphsOf } from '../../src/glyphs.js';
import { cut, displayWidth } from '../../src/terminal.js';
import { drawWaterfall, type WaterfallOptions } from '../../src/trace/draw-waterfall.js';

const OPTIONS: WaterfallOptions = { width: 80, glyphs: UNICODE, isColoured: false, maxSpans: 1000, isFull: false };
const draw = async (spans: readonly ArchivedSpan[], options: Partial<WaterfallOptions> = {}): Promise<string> =>
  drawWaterfall(summaryOf(spans), spans, { ...OPTIONS, ...options });
/** Behind the lines about the whole trace. */
const body = (text: string): string => text.slice(text.indexOf('\n\n') + 2);

const DB = { properties: { 'service.name': 'db' } };
const error = (message: string) => ({ status: { code: 'error', message } }) as const;

const CART = [
  spanAt(1, 0, 'GET /cart', 0, 12_400),
  spanAt(2, 1, 'authenticate', 200, 1500, { events: [{ name: 'miss', timeUnixNs: 900n, properties: { key: 1 } }] }),
  spanAt(3, 1, 'SELECT', 2000, 7000, { resource: DB, ...error('deadlock') }),
  spanAt(4, 3, 'read', 2100, 3000, { resource: DB }),
  spanAt(5, 3, 'read', 5200, 200, { resource: DB, name: '読み取り🐎' }),
];

describe('a trace', () => {
  test('tree, services, durations, bars, events and errors', async () => {
    expect(await draw(CART)).toBe(
      `trace 00000000000000000000000000000001
GET /cart · shop
5 spans · 1 error · 12.4 µs · ${/ · ([\d.]+ kB)\n/.exec(await draw(CART))?.[1]}
1970-01-01T00:00:00.000000000Z to 1970-01-01T00:00:00.000012400Z
services: db 3, shop 2

                           0     3.10 µs       6.20 µs      9.30 µs      12.4 µs
GET /cart shop    12.4 µs  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
├─ authenticate   1.50 µs   ━━━◆━━╸
│     ◆ +900 ns miss
└─ ✗ SELECT db    7.00 µs          ╺━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╸
   │  ✗ deadlock
   ├─ read        3.00 µs           ━━━━━━━━━━━━━
   └─ 読み取り🐎   200 ns                        ━
`,
    );
  });

  test('wall and CPU time side by side, where spans have both and there is room', async () => {
    const cpu = { properties: { 'cpu.ns': 7100, 'cpu.stderr_ns': 900, 'cpu.samples': 7 } };
    const spans = [spanAt(1, 0, 'GET /cart', 0, 12_400, cpu), spanAt(2, 1, 'read', 200, 1500)];
    const lines = body(await draw(spans)).split('\n');
    expect(lines[0]).toMatch(/^ +wall +cpu +0 /);
    expect(lines[1]).toMatch(/^GET \/cart shop {2}12\.4 µs {2}7\.10 µs ±900 ns {2}━+$/);
    expect(lines[2]).toMatch(/^└─ read +1\.50 µs +╺?━/);
    expect(await draw(spans, { glyphs: ASCII })).toContain('7.10 us +-900 ns');
    expect(await draw(spans, { width: 60 })).not.toContain('7.10');
  });

  test('the same with ASCII only', async () => {
    const text = await draw(CART.slice(0, 4), { glyphs: ASCII });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: all that is not ASCII
    expect(text.replaceAll('µ', 'u')).toMatch(/^[\x00-\x7f]*$/);
    expect(text).toContain('`- x SELECT');
    expect(text).toContain('=*=');
  });

  test('colours on demand, and the same text in them', async () => {
    const coloured = await draw(CART, { isColoured: true, isFull: true });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character
    expect(coloured.replace(/\x1b\[\d+m/g, '')).toBe(await draw(CART, { isFull: true }));
    expect(coloured).toContain('\u001b[31m✗ SELECT\u001b[39m');
  });

  test('in full: properties, kinds, links, events with all they have', async () => {
    const text = await draw([{ ...FULL_SPAN, parentSpanId: '' }], { isFull: true, width: 120 });
    for (const part of [
      'span b7ad6b7169203331 · server · http 1.2.3 · tracestate vendor=1,other=2',
      'large=9007199254740993',
      'notANumber=NaN',
      'bytes=<4 bytes 0001feff>',
      'map={a=1, b={c=<1 bytes 07>}, empty={}}',
      '◆ +43.2 µs "cache miss"',
      '→ 00000000000000000000000000000abc/ffffffffffffffff why=batch',
    ]) {
      expect(text).toContain(part.replace('"cache miss"', 'cache miss'));
    }
  });
});

describe('odd traces', () => {
  test('parents that are absent: once each, with all that names them', async () => {
    const spans = [
      spanAt(1, 0, 'root', 0, 10),
      spanAt(2, 77, 'a', 1, 2),
      spanAt(3, 77, 'b', 3, 2),
      spanAt(4, 78, 'c', 2, 2),
    ];
    const text = await draw(spans);
    expect(text).toContain('incomplete: 2 parents are not in the archive');
    const names = body(text)
      .split('\n')
      .map((line) => line.replace(/ +\d+ ns.*/, '').trimEnd());
    expect(names.slice(1)).toEqual([
      'root shop',
      'parent 000000000000004d is not in the archive',
      '├─ a shop',
      '└─ b shop',
      'parent 000000000000004e is not in the archive',
      '└─ c shop',
      '',
    ]);
  });

  test('parents in a circle: opened at the first, every span once', async () => {
    const text = await draw([spanAt(1, 2, 'one', 0, 5), spanAt(2, 3, 'two', 1, 5), spanAt(3, 1, 'three', 2, 5)]);
    expect(text).toContain('one shop (parents in a circle)');
    for (const name of ['one', 'two', 'three']) expect(body(text).split(name)).toHaveLength(2);
  });

  test('a chain of 20,000 spans, and as many children of one: bounded, and the rest counted', async () => {
    for (const parentOf of [(i: number) => i, () => 1]) {
      const spans = [spanAt(1, 0, 'root', 0, 50_000)];
      for (let i = 1; i < 20_000; i++)
        spans.push(spanAt(i + 1, parentOf(i), `s${i}`, i, 10, i === 19_999 ? error('last') : {}));
      const text = await draw(spans, { maxSpans: 300 });
      expect(body(text).split('\n')).toHaveLength(300 + 3);
      expect(text).toContain('… 19700 more spans, 1 error among them; --limit 20000 draws all');
    }
  });

  test('a span without time, and one of another clock', async () => {
    expect(body(await draw([spanAt(1, 0, 'now', 5, 0)]))).toMatch(/now shop +0 ns {2}━+\n$/);
    const text = await draw([
      spanAt(1, 0, 'root', 0, 100),
      spanAt(2, 1, 'far', 50, 1, { events: [{ name: 'e', timeUnixNs: 10n ** 18n, properties: {} }] }),
    ]);
    expect(text).toMatch(/◆\n/);
  });

  test('many events of a span: some, and the number of the others', async () => {
    const events = Array.from({ length: 60 }, (_, i) => ({ name: `e${i}`, timeUnixNs: BigInt(i), properties: {} }));
    const spans = [spanAt(1, 0, 'busy', 0, 100, { events })];
    expect(await draw(spans)).toContain('… 55 more events');
    expect(await draw(spans, { isFull: true })).toContain('… 10 more events');
  });
});

test('whatever spans hold: no line is wider than asked, no control character gets out, every span is there', async () => {
  const trace = fc.array(fc.tuple(anySpan, fc.nat(30), fc.nat(30)), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(trace, fc.integer({ min: 40, max: 200 }), fc.boolean(), async (some, width, isFull) => {
      const id = (n: number): string => (n + 1).toString(16).padStart(16, '0');
      const spans = some.map(([span, , parent], i) => ({
        ...span,
        traceId: FULL_SPAN.traceId,
        spanId: id(i),
        parentSpanId: parent === 30 ? '' : id(parent),
      }));
      const text = await draw(spans, { width, isFull });
      const lines = text.split('\n');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not come out
      expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
      expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(width);
      expect(lines.filter((line) => /\d (?:ns|µs|ms|s) {2}[ ━╸╺◆]/.test(line)).length).toBeGreaterThanOrEqual(
        spans.length,
      );
    }),
    { numRuns: samples(25, 200, 2000) },
  );
});

describe('columns of a terminal', () => {
  test.each([
    ['abc', 3],
    ['žába', 4],
    ['e\u0301', 1],
    ['読み', 4],
    ['🐎', 2],
    ['👩‍👩‍👧', 2],
    ['\u200b', 0],
  ])('%s', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  test('cut between letters, never through one', () => {
    expect(cut('読み取り', 5, '…')).toBe('読み…');
    expect(cut('e\u0301e\u0301e\u0301', 2, '…')).toBe('e\u0301…');
    expect(cut('abc', 3, '…')).toBe('abc');
    expect(cut('abc', 0, '…')).toBe('');
  });

  test.each([
    [{}, UNICODE],
    [{ LANG: 'C.UTF-8' }, UNICODE],
    [{ LANG: 'cs_CZ' }, UNICODE],
    [{ LANG: 'C' }, ASCII],
    [{ LANG: 'en_US.UTF-8', LC_ALL: 'POSIX' }, ASCII],
    [{ LANG: 'de_DE.ISO-8859-1' }, ASCII],
    [{ LANG: 'en_US.UTF-8', TERM: 'linux' }, ASCII],
  ])('glyphs in %j', (env, glyphs) => {
    expect(glyphsOf(env)).toBe(glyphs);
  });
});
