// `spanline trace` as people run it: what is in an archive is listed, found, shown, exported and imported again without loss; answers
// are for people or for programs, and exit codes tell what came of it.
import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { Archive } from '../../../archive/src/archive.js';
import { ownerText, THIS_OWNER } from '../../../archive/src/directory.js';
import { encodeOtlpJson } from '../../../archive/src/formats/encode.js';
import { decodeOtlpJson } from '../../../archive/src/formats/otlp/read-json.js';
import { WalWriter } from '../../../archive/src/wal/wal-writer.js';
import { anySpan, FULL_SPAN, flatSpan } from '../../../archive/test/support/any-span.js';
import { fillArchive, spanAt } from '../../../archive/test/support/traces.js';
import { type Outcome, scratch, spanline } from '../support/spanline.js';

const dir = scratch();
const archive = join(dir, 'archive');

const MS = 1_000_000;
const T0 = Date.UTC(2026, 0, 31, 12) * MS;
const traceId = (n: number): string => (n + 1).toString(16).padStart(4, '0').padEnd(32, '0');

/** Every tenth fails, every fourth is of the other service. */
const small = (n: number): ArchivedSpan[] => {
  const more = {
    traceId: traceId(n),
    resource: { properties: { 'service.name': n % 4 === 0 ? 'bank' : 'shop' } },
    properties: { n, 'http.route': `/r${n % 3}` },
    ...(n % 10 === 0 ? { status: { code: 'error', message: `failed ${n}` } as const } : {}),
  };
  const at = BigInt(T0) + BigInt(n) * 1_000_000_000n;
  const place = (span: ArchivedSpan): ArchivedSpan => ({
    ...span,
    startUnixNs: span.startUnixNs + at,
    endUnixNs: span.endUnixNs + at,
  });
  return [
    place(spanAt(1, 0, `GET /${n % 5}`, 0, (n + 1) * MS, more)),
    place(spanAt(2, 1, 'work', 1000, 5000, { traceId: traceId(n), resource: more.resource })),
  ];
};
const SMALL = 60;
const SHORT: ArchivedSpan = { ...spanAt(7, 0, 'short id', 5, 5), traceId: `${'0'.repeat(16)}c0ffee0000000001` };

beforeAll(async () => {
  await fillArchive(archive, [...Array.from({ length: SMALL }, (_, n) => small(n)).flat(), FULL_SPAN, SHORT]);
});

const run = (args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> =>
  spanline(['trace', ...args], { env: { SPANLINE_ARCHIVE: archive, LANG: 'C.UTF-8', LC_ALL: '', ...env } });
const lines = ({ stdout }: Outcome): string[] => stdout.split('\n').slice(0, -1);
const ids = (outcome: Outcome): string[] =>
  lines(outcome).map((line) => (JSON.parse(line) as { traceId: string }).traceId);
const all = (from: number, to: number, isWanted: (n: number) => boolean = () => true): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => to - i)
    .filter(isWanted)
    .map(traceId);

describe('ls', () => {
  test('the newest first, no more than asked; what is left out is said', async () => {
    const outcome = await run(['ls', '--archive', archive, '-n', '3'], { SPANLINE_ARCHIVE: '' });
    expect(outcome).toMatchObject({ code: 0, stderr: expect.stringContaining('more than 3') });
    const [head, ...rows] = lines(outcome);
    expect(head).toMatch(/^trace +start \(UTC\) +duration +spans +errors +size +service +name$/);
    expect(rows).toHaveLength(3);
    expect(rows[0]).toMatch(
      new RegExp(`^${traceId(59)} {2}2026-01-31 12:00:59.000 {3}60.0 ms {6}2 {7}0 {2}[\\d.]+ k?B {2}shop {5}GET /4$`),
    );
  });

  test('for a program: everything exact', async () => {
    const outcome = await run(['ls', '-n', '100', '--json']);
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    expect(ids(outcome)).toEqual([...all(0, 59), FULL_SPAN.traceId, SHORT.traceId]);
    expect(JSON.parse(lines(outcome)[60])).toEqual({
      traceId: FULL_SPAN.traceId,
      name: FULL_SPAN.name,
      service: 'shop',
      startUnixNs: '1700000000123456789',
      durationNs: '542212',
      spanCount: 1,
      errorCount: 1,
      bytes: expect.any(Number),
      isComplete: false,
      start: '2023-11-14T22:13:20.123456789Z',
      end: '2023-11-14T22:13:20.123999001Z',
    });
  });

  test('a service whose name nobody gave is shown and found by one', async () => {
    const place = join(dir, 'unnamed');
    await fillArchive(place, [spanAt(1, 0, 'mine', 1, 1, { resource: { properties: {} } })]);
    const outcome = await run(['ls', '-a', place]);
    expect(lines(outcome)[1]).toMatch(/ {2}unknown_service {2}mine$/);
    const found = await run(['search', '-a', place, '--service', 'unknown_service', '--json']);
    expect(lines(found).map((line) => JSON.parse(line))).toMatchObject([{ name: 'mine', service: 'unknown_service' }]);
    expect((await run(['show', '-a', place, '1'.padStart(32, '0')])).stdout).toContain('mine unknown_service');
  });

  test('an archive without traces is fine, a directory that is not there is none', async () => {
    const empty = join(dir, 'empty');
    await fillArchive(empty, []);
    expect(await run(['ls', '-a', empty])).toMatchObject({ code: 0, stdout: '' });
    const outcome = await run(['ls', '-a', join(dir, 'nowhere')]);
    expect(outcome).toMatchObject({ code: 3, stdout: '' });
    expect(outcome.stderr).toContain('nowhere');
    expect(readdirSync(dir)).not.toContain('nowhere');
  });
});

describe('search', () => {
  const at = (n: number): string => new Date(T0 / MS + n * 1000).toISOString();
  test.each<[string[], string[]]>([
    [['--service', 'bank', '-n', '100'], all(0, 59, (n) => n % 4 === 0)],
    [['--name', 'GET /2', '-n', '2'], all(50, 59, (n) => n % 5 === 2)],
    [['--from', at(40), '--to', at(42)], all(40, 42)],
    [['--from', '2026-01-31', '--to', at(1)], all(0, 1)],
    [['--min', '55ms', '--max', '0.057s'], all(54, 56)],
    [
      ['--status', 'error'],
      [...all(0, 59, (n) => n % 10 === 0), FULL_SPAN.traceId],
    ],
    [['--property', 'n=17'], all(17, 17)],
    [['--property', 'n=20', '--property', 'http.route=/r2', '--service', 'bank', '--status', 'error'], all(20, 20)],
    [['--property', 'large=9007199254740993'], [FULL_SPAN.traceId]],
  ])('%j', async (args, wanted) => {
    const outcome = await run(['search', '--json', ...args]);
    expect(outcome.code).toBe(0);
    expect(ids(outcome)).toEqual(wanted);
  });

  test('the last day is all of it', async () => {
    const args = ['search', '-n', '100', '--json'];
    expect(ids(await run([...args, '--from', '2026-01-31', '--to', '2026-01-31']))).toEqual(all(0, 59));
    expect(ids(await run([...args, '--to', '2026-01-31'])).slice(0, 60)).toEqual(all(0, 59));
    expect((await run([...args, '--from', '2026-01-30', '--to', '2026-01-30'])).code).toBe(1);
  });

  test('a key that has = in it', async () => {
    const place = join(dir, 'odd-keys');
    const named = (n: number, key: string) =>
      spanAt(1, 0, key, 0, 5, { traceId: traceId(n), properties: { [key]: 'c=d' } });
    await fillArchive(place, [named(1, 'a=b'), named(2, 'a\\=b'), named(3, 'a')]);
    for (const [n, argument] of [
      [1, 'a\\=b=c=d'],
      [2, 'a\\\\\\=b=c=d'],
      [3, 'a=c=d'],
    ] as const)
      expect(ids(await run(['search', '-a', place, '--property', argument, '--json']))).toEqual([traceId(n)]);
    expect(await run(['search', '-a', place, '--property', 'a\\=b'])).toMatchObject({ code: 2 });
  });

  test('ASCII where the locale knows no other: durations too', async () => {
    const place = join(dir, 'micro');
    await fillArchive(place, [
      spanAt(1, 0, 'short', 0, 1234, { events: [{ name: 'e', timeUnixNs: 1200n, properties: {} }] }),
    ]);
    const id = '1'.padStart(32, '0');
    for (const args of [['ls'], ['show', id, '--full']]) {
      expect((await run([...args, '-a', place])).stdout).toContain('1.23 µs');
      const { stdout } = await run([...args, '-a', place], { LC_ALL: 'C' });
      expect(stdout).toContain('1.23 us');
      expect(stdout).toMatch(/^[\0-\x7f]*$/);
    }
    expect((await run(['show', id, '--ascii', '-a', place])).stdout).toMatch(/^[\0-\x7f]*$/);
  });

  test('nothing found is 1', async () => {
    expect(await run(['search', '--service', 'nobody'])).toMatchObject({ code: 1, stdout: '' });
    // All traces are long over.
    expect(await run(['search', '--from', '15m'])).toMatchObject({ code: 1, stdout: '' });
  });
});

describe('show', () => {
  test('by the first digits, whatever their case', async () => {
    const outcome = await run(['show', '0AF7']);
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    expect(outcome.stdout).toContain(`trace ${FULL_SPAN.traceId}\nGET /zboží 🐎 · shop\n1 span · 1 error · 542 µs · `);
    expect(outcome.stdout).toContain('2023-11-14T22:13:20.123456789Z to 2023-11-14T22:13:20.123999001Z\n');
    expect(outcome.stdout).toContain('parent 00000001fffffffe is not in the archive\n└─ ✗ GET /zboží');
    expect(outcome.stdout).not.toContain('\u001b');
  });

  test('an id of 64 bits is whole', async () => {
    const outcome = await run(['show', 'c0ffee0000000001']);
    expect(outcome.stdout).toContain('short id');
  });

  test('several begin so: which ones', async () => {
    const outcome = await run(['show', '003']);
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toContain(`\n  ${traceId(59)}  2026-01-31 12:00:59.000  GET /4\n`);
    expect(outcome.stderr).toMatch(/\n {2}\.\.\.\n$/);
  });

  test.each([
    ['ffff', 1],
    ['f'.repeat(32), 1],
    ['xyz', 2],
    ['0'.repeat(33), 2],
  ])('%s: %d', async (id, code) => {
    const outcome = await run(['show', id]);
    expect(outcome).toMatchObject({ code, stdout: '' });
    expect(outcome.stderr).toContain(id);
  });

  test('colours and width as they are asked for, ASCII by the locale', async () => {
    const coloured = await run(['show', '0af7', '-w', '60'], { FORCE_COLOR: '1' });
    expect(coloured.stdout).toContain('\u001b[31m');
    expect((await run(['show', '0af7'], { FORCE_COLOR: '1', NO_COLOR: '1' })).stdout).not.toContain('\u001b');
    const plain = await run(['show', '0af7', '--width', '60'], { LC_ALL: 'C' });
    expect(plain.stdout).toContain('`- x GET');
    expect(Math.max(...lines(plain).map((line) => line.length))).toBeLessThanOrEqual(60);
  });

  test('as JSON: the summary, and a document that is read back to the same spans', async () => {
    const { stdout } = await run(['show', '0af7', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ traceId: FULL_SPAN.traceId, absentParents: ['00000001fffffffe'] });
    expect(decodeOtlpJson(Buffer.from(stdout)).spans).toEqual([FULL_SPAN]);
  });
});

/** Everything that is in an archive, by trace and span. */
const contents = async (place: string): Promise<ArchivedSpan[]> => {
  const source = await Archive.open(place, { readOnly: true });
  const found = await source.search({ limit: 100_000 });
  const traces = await source.traces(found.map((summary) => summary.traceId));
  await source.close();
  const key = (span: ArchivedSpan): string => span.traceId + span.spanId;
  return [...traces.values()].flat().sort((a, b) => (key(a) < key(b) ? -1 : 1));
};

describe('export and import', () => {
  let copies = 0;
  const copy = (): string => join(dir, `copy-${++copies}`);

  test.each([
    ['otlp', anySpan],
    ['jaeger', flatSpan],
  ] as const)('%s: any spans come back equal, through files and pipes', async (format, arbitrary) => {
    const source = copy();
    await fillArchive(source, [...fc.sample(arbitrary, samples(10, 120, 300)), ...small(3), ...small(4)]);
    const wanted = await contents(source);
    const file = join(dir, `${format}.json`);
    expect(await run(['export', '-a', source, '--format', format, '-o', file])).toMatchObject({ code: 0, stdout: '' });
    const plain = copy();
    const outcome = await run(['import', '-a', plain, file, '--json']);
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(outcome.stdout)).toMatchObject([{ file, spans: wanted.length, refused: 0 }]);
    expect(await contents(plain)).toEqual(wanted);
    // Once more changes nothing.
    expect((await run(['import', '-a', plain, file])).code).toBe(0);
    expect(await contents(plain)).toEqual(wanted);
    // Standard output is the same as the file.
    expect((await run(['export', '-a', source, '--format', format])).stdout).toBe(readFileSync(file, 'utf8'));
    writeFileSync(`${file}.gz`, gzipSync(readFileSync(file)));
    const piped = copy();
    const fromPipe = await spanline(['trace', 'import', '-a', piped, '-'], { stdin: readFileSync(`${file}.gz`) });
    expect(fromPipe).toMatchObject({ code: 0, stderr: '' });
    expect(await contents(piped)).toEqual(wanted);
  });

  test('many are sorted when they are in the archive', async () => {
    const [place, file] = [copy(), join(dir, 'many.jsonl')];
    writeFileSync(file, encodeOtlpJson(Array.from({ length: 600 }, (_, n) => small(n)).flat()));
    expect((await run(['import', '-a', place, file])).code).toBe(0);
    expect(readdirSync(place)).toEqual([expect.stringMatching(/^seg-.*\.spans$/)]);
    expect(await contents(place)).toHaveLength(1200);
  });

  test('some: by id, by search, and none', async () => {
    const [whole, found] = [copy(), copy()];
    // One of them twice.
    const byId = await run(['export', '003b', traceId(3), traceId(58)]);
    expect(byId).toMatchObject({ code: 0, stderr: expect.stringContaining('2 traces, 4 spans') });
    writeFileSync(join(dir, 'ids.jsonl'), byId.stdout);
    await run(['import', '-a', whole, join(dir, 'ids.jsonl')]);
    expect(await contents(whole)).toEqual([...small(3), ...small(58)]);
    const bySearch = await run(['export', '--property', 'n=4', '-o', join(dir, 'search.jsonl'), '--json']);
    expect(JSON.parse(bySearch.stdout)).toEqual({
      file: join(dir, 'search.jsonl'),
      format: 'otlp',
      traces: 1,
      spans: 2,
    });
    await run(['import', '-a', found, join(dir, 'search.jsonl')]);
    expect(await contents(found)).toEqual(small(4));
    expect((await run(['export', '--service', 'nobody'])).code).toBe(1);
    expect((await run(['export', 'ffff'])).code).toBe(1);
    expect((await run(['export', '003b', '--service', 'shop'])).code).toBe(2);
  });

  test('documents over many lines, of both formats', async () => {
    const place = copy();
    const otlp = join(dir, 'pretty.json');
    writeFileSync(otlp, JSON.stringify(JSON.parse(encodeOtlpJson(small(1))), null, 2));
    const jaeger = join(dir, 'pretty-jaeger.json');
    const { stdout } = await run(['export', '--format', 'jaeger', traceId(2)]);
    // Blank lines before it are not a document.
    writeFileSync(jaeger, `\n \n${JSON.stringify(JSON.parse(stdout), null, 1)}`);
    expect((await run(['import', '-a', place, otlp, jaeger])).code).toBe(0);
    expect(await contents(place)).toEqual([...small(1), ...small(2)]);
  });

  test('a bad line, a bad span, a bad file: said, and the rest is kept', async () => {
    const place = copy();
    const file = join(dir, 'bad.jsonl');
    const others = ['{"resourceSpans":5}', '{"resourceMetrics":[]}', encodeOtlpJson(small(2)).slice(0, 200)];
    writeFileSync(file, [encodeOtlpJson(small(1)), ...others, encodeOtlpJson(small(2)), '{"resou'].join('\n'));
    const cut = join(dir, 'cut.jsonl.gz');
    const whole = gzipSync(encodeOtlpJson(small(3)));
    writeFileSync(cut, whole.subarray(0, whole.length - 9));
    const outcome = await run(['import', '-a', place, file, cut]);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toContain('bad.jsonl: line 2: resourceSpans must be a list');
    expect(outcome.stderr).toContain('cut.jsonl.gz: unexpected end of file');
    expect(outcome.stderr).toContain('bad.jsonl: 4 lines are not documents of traces');
    expect(await contents(place)).toEqual([...small(1), ...small(2)]);
    expect(await run(['import', '-a', place, file, '--json'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('"refusedLines": 4'),
    });
    const invalid = join(dir, 'invalid.jsonl');
    writeFileSync(invalid, encodeOtlpJson([...small(5), { ...FULL_SPAN, spanId: '' }]));
    const partly = await run(['import', '-a', place, invalid]);
    expect(partly).toMatchObject({ code: 1, stderr: expect.stringContaining('1 bad span id') });
    expect(await contents(place)).toEqual(expect.arrayContaining(small(5)));
    expect((await run(['import', '-a', place, join(dir, 'no-such-file')])).code).toBe(3);
  });

  test('a first line that is cut off costs no other', async () => {
    const place = copy();
    const file = join(dir, 'rotated.jsonl');
    const [first, ...rest] = [4, 5, 6].map((n) => encodeOtlpJson(small(n)));
    writeFileSync(file, [first.slice(0, 300), ...rest, '{"resourceLogs":[]}', ''].join('\n'));
    expect(await run(['import', '-a', place, file, '--json'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('"refusedLines": 2'),
      stderr: expect.stringContaining('rotated.jsonl: line 1: no valid JSON'),
    });
    expect(await contents(place)).toEqual([...small(5), ...small(6)]);
  });

  test.each([
    ['nothing', '', /no document of traces/],
    ['blank lines', '\n \n', /no document of traces/],
    ['metrics alone', '{"resourceMetrics":[]}\n{"resourceMetrics":[]}\n', /holds metrics/],
    ['an answer of Jaeger that is none', '{"data":null,"errors":[{"code":404,"msg":"trace not found"}]}', /not found/],
    ['a document of something else', '{\n "traceEvents": []\n}\n', /trace of Chrome/],
  ])('a file with %s is bad', async (_, content, message) => {
    const place = copy();
    const file = join(dir, 'none.json');
    writeFileSync(file, content);
    const outcome = await run(['import', '-a', place, file]);
    expect(outcome).toMatchObject({ code: 2, stdout: expect.stringContaining('bad ') });
    expect(outcome.stderr).toMatch(message);
    expect(existsSync(place)).toBe(false);
  });

  test('an answer of the API version 3, and spans of Zipkin', async () => {
    const place = copy();
    const file = join(dir, 'v3.json');
    writeFileSync(file, `{"result":${encodeOtlpJson(small(1))}}\n`);
    const zipkin = join(dir, 'zipkin.json');
    writeFileSync(zipkin, JSON.stringify([{ traceId: traceId(2), id: '1', name: 'z', timestamp: 5, duration: 1 }]));
    expect((await run(['import', '-a', place, file, zipkin])).code).toBe(0);
    expect(await contents(place)).toMatchObject([...small(1), { traceId: traceId(2), name: 'z' }]);
  });

  test('both halves of a call that share an id, from one file or two, and once however often they are imported', async () => {
    const [traceId, timestamp] = ['5f3c1d2e7a9b4c60', 1_760_000_000_000_000];
    const halves = [
      {
        traceId,
        id: 'a1',
        name: 'get /',
        kind: 'SERVER',
        timestamp,
        duration: 90,
        localEndpoint: { serviceName: 'web' },
      },
      {
        ...{ traceId, id: 'b2', parentId: 'a1', name: 'post', kind: 'CLIENT', timestamp: timestamp + 10, duration: 50 },
        localEndpoint: { serviceName: 'web' },
      },
      {
        ...{ traceId, id: 'b2', parentId: 'a1', name: 'post /pay', kind: 'SERVER', timestamp: timestamp + 20 },
        ...{ duration: 30, shared: true, localEndpoint: { serviceName: 'bank' } },
      },
      {
        traceId,
        id: 'c3',
        parentId: 'b2',
        name: 'lock',
        timestamp: timestamp + 30,
        localEndpoint: { serviceName: 'bank' },
      },
    ];
    const tree = /get \/ web .*\n└─ post .*\n {3}└─ post \/pay bank .*\n {6}└─ lock /;
    const [all, below, above] = [halves, halves.slice(2), halves.slice(0, 2)].map((spans, i) => {
      const file = join(dir, `zipkin-${i}.json`);
      writeFileSync(file, JSON.stringify(spans));
      return file;
    });
    for (const files of [[all], [below, above]]) {
      const place = copy();
      for (const file of [...files, ...files])
        expect((await run(['import', '-a', place, file])).stdout).toMatch(/ imported +1 +[24] +0/);
      expect((await run(['show', '-a', place, '--width', '100', traceId.padStart(32, '0')])).stdout).toMatch(tree);
      expect(JSON.parse((await run(['search', '-a', place, '--name', 'post /pay', '--json'])).stdout)).toMatchObject({
        spanCount: 4,
        isComplete: true,
      });
      const exported = join(dir, 'halves.jsonl');
      await run(['export', '-a', place, '-o', exported, traceId.padStart(32, '0')]);
      const again = copy();
      expect((await run(['import', '-a', again, exported])).stdout).toMatch(/ imported +1 +4 +0/);
      expect(await contents(again)).toEqual(await contents(place));
    }
  });

  test('an input that stays open: a bad line is said at once; Ctrl-C ends the command, with what came before kept', async () => {
    const stopped = copy();
    const line = `{"resourceSpans":5}\n${encodeOtlpJson(small(6))}\n`;
    const importing = (place: string, stdin: string, onStart?: (kill: (signal: NodeJS.Signals) => void) => void) =>
      spanline(['trace', 'import', '-a', place, '-'], { stdin: Buffer.from(stdin), keepsStdin: true, onStart });
    const outcome = await importing(stopped, line, async (kill) => {
      await vi.waitUntil(() => existsSync(stopped) && readdirSync(stopped).length > 0, { timeout: 60_000 });
      kill('SIGINT');
    });
    expect(outcome).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(/line 1: resourceSpans must be a list[\s\S]*interrupted by SIGINT; what was read/),
    });
    expect(await contents(stopped)).toEqual(small(6));
  });

  test('a file that cannot be written: nothing of it stays', async () => {
    const outcome = await run(['export', '-o', join(dir, 'no-such-directory', 'x.jsonl')]);
    expect(outcome).toMatchObject({ code: 3, stdout: '' });
  });
});

test('a damaged segment is named, the others answer, and the exit code is 3', async () => {
  const place = join(dir, 'damaged');
  await fillArchive(place, small(1));
  const [hurt] = readdirSync(place);
  await fillArchive(place, small(2));
  truncateSync(join(place, hurt), 100);
  const outcome = await run(['ls', '-a', place, '--json']);
  expect(outcome).toMatchObject({ code: 3, stderr: expect.stringContaining(hurt) });
  expect(ids(outcome)).toEqual([traceId(2)]);
  // Nobody knows what is not there.
  for (const args of [
    ['show', traceId(1)],
    ['export', traceId(1)],
    ['search', '--name', 'no such name'],
  ])
    expect(await run([...args, '-a', place])).toMatchObject({ code: 3, stderr: expect.stringContaining(hurt) });
});

test('a damaged write-ahead file is named, what is beside the damage answers, and the exit code is 3', async () => {
  const place = join(dir, 'damaged-write-ahead');
  mkdirSync(place);
  const hurt = `wal-${ownerText({ ...THIS_OWNER, pid: 2 ** 22 + 1, instance: '0badf00d' })}-0123456789ab.log`;
  const wal = new WalWriter(join(place, hurt));
  wal.append(small(1));
  const { bytes: end } = wal;
  wal.append(small(2));
  wal.close();
  const bytes = readFileSync(join(place, hurt));
  bytes[end - 5] ^= 1;
  writeFileSync(join(place, hurt), bytes);
  const named = { code: 3, stderr: expect.stringContaining(hurt) };
  const listed = await run(['ls', '-a', place, '--json']);
  expect(listed).toMatchObject(named);
  expect(ids(listed)).toEqual([traceId(2)]);
  for (const args of [
    ['search', '--service', 'shop'],
    ['show', traceId(1)],
    ['show', traceId(2)],
    ['export', traceId(2)],
    ['export'],
    ['search', '--name', 'no such name'],
  ])
    expect(await run([...args, '-a', place])).toMatchObject(named);
  writeFileSync(join(place, hurt), bytes.subarray(0, end));
  const empty = await run(['ls', '-a', place]);
  expect(empty).toMatchObject(named);
  expect(empty.stderr).not.toContain('has no traces');
});

test.each([
  [['ls'], 2],
  [['nonsense'], 2],
  [['ls', '-a', 'x', '-n', '0'], 2],
  [['search', '-a', 'x', '--from', 'yesterday'], 2],
  [['search', '-a', 'x', '--from', '2026-02-01', '--to', '2026-01-01'], 2],
  [['search', '-a', 'x', '--min', '5'], 2],
  [['search', '-a', 'x', '--min', '5s', '--max', '1s'], 2],
  [['search', '-a', 'x', '--status', 'bad'], 2],
  [['search', '-a', 'x', '--property', 'novalue'], 2],
  [['show', '-a', 'x'], 2],
  [['export', '-a', 'x', '--format', 'zipkin'], 2],
  [['import', '-a', 'x'], 2],
  [['import', '-a', 'x', '-', '-'], 2],
  [['--help'], 0],
])('usage: %j ends with %d', async (args, code) => {
  const outcome = await run(args, { SPANLINE_ARCHIVE: '' });
  expect(outcome.code).toBe(code);
  if (code === 2) expect(outcome).toMatchObject({ stdout: '', stderr: expect.stringMatching(/./) });
});

test.each(['ls', 'search', 'show', 'export', 'import'])('%s --help has examples and exit codes', async (name) => {
  const { stdout } = await run([name, '--help']);
  expect(stdout).toMatch(/Examples:\n {2}\$ .+\n(?:.*\n)*Exit codes: 0/);
});
