// A file is in the store once it was ingested, whole and only once: again it changes nothing, cut off it goes on, and a bad one leaves
// the store as it was.
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { cleaningRule } from '../../src/params/param-text.js';
import { readSeries } from '../../src/perf/histories.js';
import { type IngestProgress, ingestFile } from '../../src/perf/ingest-files.js';
import { PERF_SCHEMA, PerfStore } from '../../src/perf/perf-store.js';
import { directory, fileWith } from '../ingest/support/ingest-files.js';
import { type Engine, onBothEngines, onLmdb } from '../support/on-both-engines.js';
import { dump } from './support/dump.js';
import { jsonLines } from './support/json-lines.js';

const BENCH = JSON.parse(
  readFileSync(fileURLToPath(new URL('../ingest/fixtures/spanline-bench.json', import.meta.url)), 'utf8'),
) as Record<string, unknown>;

const perfJson = (commit: string, value: number) => ({
  version: 1,
  git_hash: commit,
  key: { arch: 'x86' },
  results: [{ key: { test: 'draw', unit: 'ms' }, measurement: value }],
});

const entry = (id: string, date: number, value: number) => ({
  commit: { id, timestamp: '2023-10-01T20:00:15Z', url: `https://example.com/${id}` },
  date,
  benches: [{ name: 'draw', value, unit: 'ms' }],
});

const dataJs = (...entries: readonly object[]): string =>
  `window.BENCHMARK_DATA = ${JSON.stringify({ lastUpdate: 1, repoUrl: '', entries: { Suite: entries } })}`;

const newStore = async (engine: Engine): Promise<PerfStore> =>
  PerfStore.open(await engine.table(PERF_SCHEMA), { tileSize: 1024 });

/** All series as short lines: `,test=draw,: c1=5 c2=6`. */
const seriesOf = async (perf: PerfStore): Promise<string[]> =>
  (await readSeries(perf, '')).map(
    ({ key, commits, values }) => `${key} ${commits.map(({ hash }, i) => `${hash}=${values[i]}`).join(' ')}`,
  );

onBothEngines('a file of format', (engine) => {
  test.each<[string, unknown, object, string[]]>([
    ['perf-json', perfJson('c1', 12.5), {}, [',arch=x86,test=draw,unit=ms, c1=12.5']],
    [
      'github-action-benchmark',
      dataJs(entry('c1', 5, 1), entry('c2', 6, 2), entry('c1', 7, 3)),
      {},
      [',suite=Suite,test=draw,unit=ms, c1=3 c2=2'],
    ],
    ['json-lines', jsonLines(3), {}, [',suite=G,test=draw,tool=t,unit=ms, c0=0 c1=1 c2=2']],
    ['gzip of json-lines', gzipSync(jsonLines(3)), {}, [',suite=G,test=draw,tool=t,unit=ms, c0=0 c1=1 c2=2']],
  ])('%s is written once, however often it is ingested', async (_, content, options, expected) => {
    const perf = await newStore(engine);
    const path = fileWith(content);
    const first = await ingestFile(perf, path, { name: 'results', ...options });
    expect(first).toMatchObject({ file: 'results', outcome: 'written' });
    expect(first.points).toBeGreaterThan(0);
    expect(await seriesOf(perf)).toEqual(expected);
    const before = await dump(perf.table);
    const again = await ingestFile(perf, path, { name: 'results', ...options });
    expect(again).toEqual({ file: 'results', outcome: 'already', entries: 0, points: 0 });
    expect(await dump(perf.table)).toEqual(before);
    // By another process, which remembers nothing, and even when it is told to write.
    const other = await PerfStore.open(perf.table);
    expect(await ingestFile(other, path, { name: 'results', ...options, force: true })).toEqual(first);
    expect(await dump(perf.table)).toEqual(before);
  });

  test("spanline's benchmarks is written at the commit that is given", async () => {
    const perf = await newStore(engine);
    const path = fileWith(BENCH);
    expect(await ingestFile(perf, path, { name: 'run', commit: 'c1' })).toMatchObject({
      outcome: 'written',
      points: 11,
    });
    expect(await ingestFile(perf, path, { name: 'run', commit: 'c1' })).toMatchObject({ outcome: 'already' });
    // The same file at another commit is another measurement.
    expect(await ingestFile(perf, path, { name: 'run', commit: 'c2' })).toMatchObject({
      outcome: 'written',
      points: 11,
    });
    const series = await readSeries(perf, 'test=local-span&subject=spanline&stat=min&n=1');
    expect(series.map(({ commits }) => commits.map(({ hash }) => hash))).toEqual([['c1', 'c2']]);
    await expect(ingestFile(perf, path)).rejects.toThrow('does not say which commit');
  });

  test('perf-json, measured twice: the later file counts, in whichever order they come', async () => {
    for (const order of [
      [1, 2],
      [2, 1],
    ]) {
      const perf = await newStore(engine);
      for (const day of order) {
        const path = join(directory(), `day-${day}.json`);
        writeFileSync(path, JSON.stringify(perfJson('c1', day)));
        // Such a file does not say when it measured; it was written then.
        utimesSync(path, new Date(day * 86_400_000), new Date(day * 86_400_000));
        await ingestFile(perf, path, { name: `day-${day}.json` });
      }
      expect(await seriesOf(perf)).toEqual([',arch=x86,test=draw,unit=ms, c1=2']);
      expect(await perf.source(0, { arch: 'x86', test: 'draw', unit: 'ms' })).toBe('day-2.json');
    }
  });

  test('cleaned by another rule is another file', async () => {
    const file = fileWith({ ...perfJson('c1', 5), key: { arch: 'x86 64' } });
    const table = await engine.table(PERF_SCHEMA);
    await ingestFile(await PerfStore.open(table), file);
    const rule = cleaningRule('A-Za-z0-9._ -');
    const perf = await PerfStore.open(table, { rule });
    for (const outcome of ['written', 'already'])
      expect(await ingestFile(perf, file, { rule })).toMatchObject({ outcome });
    expect(await seriesOf(perf)).toEqual([
      ',arch=x86 64,test=draw,unit=ms, c1=5',
      ',arch=x86_64,test=draw,unit=ms, c1=5',
    ]);
    expect(await ingestFile(perf, file)).toMatchObject({ outcome: 'already' });
  });

  test('data.js that has grown is written again: what it had keeps its numbers', async () => {
    const perf = await newStore(engine);
    const path = join(directory(), 'data.js');
    writeFileSync(path, dataJs(entry('c1', 5, 1), entry('c2', 6, 2)));
    await ingestFile(perf, path, { name: 'data.js' });
    writeFileSync(path, dataJs(entry('c1', 5, 1), entry('c2', 6, 2), entry('c3', 7, 3)));
    expect(await ingestFile(perf, path, { name: 'data.js' })).toMatchObject({ outcome: 'written', entries: 3 });
    expect(await seriesOf(perf)).toEqual([',suite=Suite,test=draw,unit=ms, c1=1 c2=2 c3=3']);
    expect((await perf.commits.list()).map(({ hash }) => hash)).toEqual(['c1', 'c2', 'c3']);
    const params = { suite: 'Suite', test: 'draw', unit: 'ms' };
    expect(await perf.source(1, params)).toBe('data.js#Suite@c2/6');
  });
});

onBothEngines('a file that is cut off after its first batch', (engine) => {
  test('is resumed, and the store is the one made in one go', async () => {
    const path = fileWith(jsonLines(2300));
    const whole = await newStore(engine);
    const steps: IngestProgress[] = [];
    const done = await ingestFile(whole, path, { name: 'history', onProgress: (step) => steps.push(step) });
    expect(done).toEqual({ file: 'history', outcome: 'written', entries: 2300, points: 2300 });
    expect(steps.map(({ entries, entriesTotal, points }) => [entries, entriesTotal, points])).toEqual([
      [1000, 2300, 1000],
      [2000, 2300, 2000],
      [2300, 2300, 2300],
    ]);

    const perf = await newStore(engine);
    const controller = new AbortController();
    const onProgress = () => controller.abort(new Error('Ctrl-C'));
    const cut = ingestFile(perf, path, { name: 'history', signal: controller.signal, onProgress });
    await expect(cut).rejects.toMatchObject({ code: 'ERR_SPANLINE_ABORTED' });
    expect(await perf.commits.list()).toHaveLength(1000);
    const other = await PerfStore.open(perf.table);
    expect(await ingestFile(other, path, { name: 'history' })).toEqual({
      file: 'history',
      outcome: 'resumed',
      entries: 1300,
      points: 1300,
    });
    expect(await dump(perf.table)).toEqual(await dump(whole.table));
    expect(await ingestFile(other, path, { name: 'history' })).toMatchObject({ outcome: 'already' });
  });
});

onLmdb('a bad file', (engine) => {
  const truncated = gzipSync(jsonLines(5000)).subarray(0, 2000);
  const badLine = `${jsonLines(1500)}\n{"group":"G","commit":"c9","date":1,"benches":[{"name":"draw","value":"fast"}]}`;

  const badCommit = `${jsonLines(1500)}\n${jsonLines(1).replace('c0', 'c'.repeat(257))}`;
  const tooMany = Object.fromEntries(Array.from({ length: 251 }, (_, i) => [`k${i}`, 'v']));

  describe('says file, place and reason, and changes nothing', () => {
    test.each<[string, string | object, object, RegExp]>([
      ['not JSON', '{"version": 1,', {}, /^bad\.json:/],
      ['of no format', { some: 'thing' }, {}, /^bad\.json: .*none of the formats/],
      ['empty', '', {}, /^bad\.json: is empty/],
      ['a wrong version', { ...perfJson('c1', 1), version: 2 }, {}, /^bad\.json: \/version/],
      [
        'a measurement that is text',
        { ...perfJson('c1', 1), results: [{ key: {}, measurement: '1' }] },
        {},
        /^bad\.json: \/results\/0\/measurement/,
      ],
      ['a property nobody knows', { ...perfJson('c1', 1), resluts: [] }, {}, /^bad\.json: .*resluts/],
      ['a bad last line after 1,500 good ones', badLine, {}, /^bad\.json:1501: \/benches\/0\/value/],
      ['half a gzip file', truncated, {}, /^bad\.json: is not a whole gzip file/],
      ['of another format than told', perfJson('c1', 1), { format: 'json-lines' }, /^bad\.json:1: /],
      ['of a format that there is not', perfJson('c1', 1), { format: 'nosuch' }, /nosuch/],
      ['of a commit that it contradicts', perfJson('c1', 1), { commit: 'c2' }, /^bad\.json: \/git_hash is "c1"/],
      [
        'more params than a trace may have',
        { ...perfJson('c1', 1), key: tooMany },
        {},
        /^bad\.json: \/results\/0 .*250/,
      ],
      ['a commit that no store takes, after 1,500 good ones', badCommit, {}, /^bad\.json:1501: .*commit/],
      ['beyond float32', perfJson('c1', 1e39), {}, /^bad\.json: \/results\/0/],
    ])('%s', async (_, content, options, message) => {
      const perf = await newStore(engine);
      await ingestFile(perf, fileWith(perfJson('c0', 1)), { name: 'good.json' });
      const before = await dump(perf.table);
      const ingested = ingestFile(perf, fileWith(content), { name: 'bad.json', ...options });
      await expect(ingested).rejects.toMatchObject({
        code: 'ERR_SPANLINE_INVALID_INPUT',
        message: expect.stringMatching(message),
      });
      expect(await dump(perf.table)).toEqual(before);
    });
  });

  test('of a name that no source takes', async () => {
    const perf = await newStore(engine);
    const before = await dump(perf.table);
    for (const name of ['', 'x'.repeat(4097)]) {
      const ingested = ingestFile(perf, fileWith(perfJson('c1', 1)), { name });
      await expect(ingested).rejects.toMatchObject({ code: 'ERR_SPANLINE_INVALID_INPUT' });
    }
    expect(await dump(perf.table)).toEqual(before);
    // The longest of everything that gets into a source.
    const longest = dataJs(entry('c'.repeat(256), 253402300799999, 1)).replace('Suite', 's'.repeat(1024));
    expect(await ingestFile(perf, fileWith(longest), { name: 'x'.repeat(4096) })).toMatchObject({ points: 1 });
  });

  test('that is not there is said by name', async () => {
    const perf = await newStore(engine);
    await expect(ingestFile(perf, '/no/such/file.json')).rejects.toThrow('/no/such/file.json: does not exist');
  });

  test('progress that is not a number is an error, until it is written anew', async () => {
    const perf = await newStore(engine);
    const path = fileWith(perfJson('c1', 1));
    await ingestFile(perf, path);
    const row = (await dump(perf.table)).find((line) => line.startsWith('f'))?.split(' ')[0] as string;
    expect(row).toMatch(/^f[0-9a-f]{32}$/);
    const value = Buffer.from('many');
    const mutations = [{ type: 'set', family: 'C', qualifier: 'P', value, timestampMs: Date.now() }] as const;
    await perf.table.mutateRows([{ key: row, mutations }]);
    await expect(ingestFile(perf, path)).rejects.toMatchObject({
      code: 'ERR_SPANLINE_STORE_CORRUPT',
      message: expect.stringContaining('with force'),
    });
    expect(await ingestFile(perf, path, { force: true })).toMatchObject({ outcome: 'written' });
    expect(await ingestFile(perf, path)).toMatchObject({ outcome: 'already' });
  });

  test('a file without any entry is done at once', async () => {
    const perf = await newStore(engine);
    const nothing = { ...perfJson('c1', 1), results: [] };
    expect(await ingestFile(perf, fileWith(nothing))).toMatchObject({ points: 0 });
    expect(await perf.tiles()).toEqual([]);
  });
});
