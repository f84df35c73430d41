// Many small files share writes and yet are resumed one by one; and what is taken on trust or comes in the wrong order is said.
import { expect, test } from 'vitest';
import { type IngestedFile, ingestFile, ingestFiles } from '../../src/perf/ingest-files.js';
import { PERF_SCHEMA, PerfStore } from '../../src/perf/perf-store.js';
import { fileWith } from '../ingest/support/ingest-files.js';
import { onBothEngines } from '../support/on-both-engines.js';
import { dumpOfData } from './support/dump.js';
import { perfJson, smallFiles } from './support/small-files.js';

const outcomes = (results: readonly { readonly outcome: string }[]) => results.map(({ outcome }) => outcome).join(' ');

/** JSON lines of commits made on these days of January. */
const history = (...days: readonly number[]): string =>
  days
    .map((day) =>
      JSON.stringify({
        group: 'G',
        commit: `day${day}`,
        timestamp: `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`,
        date: day,
        benches: [{ name: 'draw', value: day, unit: 'ms' }],
      }),
    )
    .join('\n');

onBothEngines('many small files', (engine) => {
  test('are written together, each once, and what is bad among them changes nothing', async () => {
    const files = smallFiles(40);
    const one = await PerfStore.open(await engine.table(PERF_SCHEMA));
    for (const path of files) await ingestFile(one, path);
    const many = await PerfStore.open(await engine.table(PERF_SCHEMA));
    const before = many.stats().table.writes;
    const bad = fileWith({ ...perfJson('c7', 1), version: 2 });
    const results = await ingestFiles(many, [...files.slice(0, 20), bad, '/no/such/file', ...files.slice(20)]);
    expect(results).toHaveLength(42);
    expect(outcomes(results.slice(19, 23))).toBe('written bad bad written');
    expect(results[20]).toMatchObject({ file: bad, error: { message: expect.stringContaining(`${bad}: /version`) } });
    expect(results[0]).toEqual({ file: files[0], outcome: 'written', entries: 1, points: 1 });
    expect(await dumpOfData(many.table)).toEqual(await dumpOfData(one.table));
    // Not some writes for each of them.
    expect(many.stats().table.writes - before).toBeLessThan(20);
    expect(outcomes(await ingestFiles(many, files.slice(0, 3)))).toBe('already already already');
  });

  test('a time of the commit and of the measurement can be given: in the file, or beside it', async () => {
    const perf = await PerfStore.open(await engine.table(PERF_SCHEMA));
    const own = perfJson('c1', 1, { timestamp: '2026-01-02T03:04:05Z', date: 7 });
    expect(await ingestFile(perf, fileWith(own), { commitMs: 1, measuredMs: 2 })).not.toHaveProperty('warnings');
    expect(await ingestFile(perf, fileWith(perfJson('c2', 1)), { commitMs: Date.UTC(2026, 1), measuredMs: 2 })).toEqual(
      expect.not.objectContaining({ warnings: expect.anything() }),
    );
    const { warnings } = await ingestFile(perf, fileWith(perfJson('c3', 1)));
    expect(warnings).toEqual([expect.stringMatching(/does not say when it was measured.*--measured/)]);
    expect((await perf.commits.list()).map(({ timestampMs }) => timestampMs)).toEqual([
      Date.UTC(2026, 0, 2, 3, 4, 5),
      Date.UTC(2026, 1),
      undefined,
    ]);
    // What nobody had said can be said later; what was said stays.
    await ingestFile(perf, fileWith(perfJson('c3', 1)), { commitMs: 5, measuredMs: 3 });
    await ingestFile(perf, fileWith(perfJson('c3', 1)), { commitMs: 6, measuredMs: 4 });
    expect(await perf.commits.find('c3')).toEqual({ hash: 'c3', number: 2, timestampMs: 5 });
    const bad = ingestFile(perf, fileWith(history(1)), { commitMs: 5 });
    await expect(bad).rejects.toMatchObject({ code: 'ERR_SPANLINE_INVALID_INPUT' });
  });

  test('older history after newer is said, with how many and what to do', async () => {
    const said = (results: readonly unknown[]) =>
      (results as IngestedFile[]).map(({ warnings = [] }) =>
        warnings.map((text) => text.replace(/ of .*? are/, ' are')),
      );
    const open = async () => PerfStore.open(await engine.table(PERF_SCHEMA));
    const newer = fileWith(history(20, 21, 22));
    const older = fileWith(history(3, 4, 19), 'older.jsonl');
    const late = [
      expect.stringMatching(/^3 commits are older than what the store had \(2026-01-22.*new store, oldest/),
    ];
    const apart = await open();
    expect(said([await ingestFile(apart, newer), await ingestFile(apart, older)])).toEqual([[], late]);
    const others = await PerfStore.open(apart.table);
    expect(said([await ingestFile(others, fileWith(history(1, 30), 'mixed.jsonl'))])[0]).toHaveLength(1);
    expect(said(await ingestFiles(await open(), [newer, older]))).toEqual([[], late]);
    // Oldest first, twice the same commits, and neighbours as merges leave them, are not a mistake.
    const right = [older, newer, fileWith(`${history(21)}\n${history(22)}`, 'again.jsonl')];
    expect(said(await ingestFiles(await open(), right))).toEqual([[], [], []]);
    expect(said(await ingestFiles(await open(), [fileWith(history(1, 2, 5, 4, 6, 7))]))).toEqual([[]]);
    const reversed = await ingestFile(await open(), fileWith(history(9, 8, 7, 6)));
    expect(reversed.warnings).toEqual([expect.stringContaining('has its newest commits first: 3 were')]);
  });
});
