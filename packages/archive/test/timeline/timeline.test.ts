// An archive keeps the timelines of processes apart from one another, gives back what overlaps the time asked for, leaves out torn lines and counts them,
// and deletes with its retention.
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TimelineRow } from '../../../../src/flight-recorder/timeline/timeline-row.js';
import { processOf } from '../../src/timeline/timeline-files.js';
import { filesOf, newDirectory, openArchive } from '../archive/support/directory.js';

const TIMELINE = /^timeline-.*\.jsonl$/;
const NOW = Date.now() * 1000;
const MINUTE = 60_000_000;

const resource = (pid: number) => ({ properties: { 'service.name': 'shop', 'process.pid': pid, started: 5n } });

const rowAt = (startUs: number): TimelineRow => ({
  kind: 'busy',
  startUs,
  endUs: startUs + 7000.25,
  detail: '',
  parts: [
    {
      startUs,
      endUs: startUs + 10.5,
      traceId: 'aa',
      spanId: 'bb',
      name: 'žluť\n"',
      frames: ['parse app.js:12', 'run'],
    },
    { startUs: startUs + 11, endUs: startUs + 12, traceId: '', spanId: '', name: '', frames: [] },
  ],
});
const collection = (startUs: number): TimelineRow => ({
  kind: 'gc',
  startUs,
  endUs: startUs + 900,
  detail: 'mark-compact',
  parts: [],
});

test('what was appended is read by its time, by other processes too, each timeline with its process', async () => {
  const directory = newDirectory();
  const [one, two] = [await openArchive(directory), await openArchive(directory)];
  one.appendTimeline([rowAt(NOW), collection(NOW + 500)], resource(1), NOW, NOW + 10_000);
  two.appendTimeline([], resource(2), NOW + 5000, NOW + 20_000);
  one.appendTimeline([rowAt(NOW + 12_000)], resource(1), NOW + 10_000, NOW + 30_000);
  const reader = await openArchive(directory, { readOnly: true });
  expect(await reader.timeline(NOW, NOW + 30_000)).toEqual([
    { process: processOf(resource(1)), fromUs: NOW, toUs: NOW + 10_000, rows: [rowAt(NOW), collection(NOW + 500)] },
    { process: processOf(resource(2)), fromUs: NOW + 5000, toUs: NOW + 20_000, rows: [] },
    { process: processOf(resource(1)), fromUs: NOW + 10_000, toUs: NOW + 30_000, rows: [rowAt(NOW + 12_000)] },
  ]);
  expect((await reader.timeline(NOW + 25_000, NOW + 26_000)).map(({ fromUs }) => fromUs)).toEqual([NOW + 10_000]);
  expect(await reader.timeline(NOW + MINUTE * 60, NOW + MINUTE * 61)).toEqual([]);
  expect(processOf(resource(1))).not.toBe(processOf(resource(2)));
  expect(await one.stats()).toMatchObject({ timelineRows: 3, timelineTornLines: 0 });
  expect(() => reader.appendTimeline([], resource(1), NOW, NOW)).toThrow('opened to read');
});

test('short turns keep for how long the loop waited, and lines from before there were any are read as ever', async () => {
  const directory = newDirectory();
  const archive = await openArchive(directory);
  const turns: TimelineRow = {
    ...{ kind: 'turns', startUs: NOW + 100, endUs: NOW + 9000, detail: '', parts: [] },
    idleUs: 1234.25,
  };
  archive.appendTimeline([collection(NOW), turns], resource(1), NOW, NOW + 10_000);
  const [{ rows }] = await archive.timeline(NOW, NOW + 10_000);
  expect(rows).toEqual([collection(NOW), turns]);
  expect(Object.keys(rows[0])).not.toContain('idleUs');
  // What a reader from before takes of a row is where it always was.
  const [file] = readdirSync(directory).filter((name) => TIMELINE.test(name));
  const cells = JSON.parse(readFileSync(join(directory, file), 'utf8').slice(9)) as unknown[];
  expect(cells[4]).toEqual([
    ['gc', NOW, NOW + 900, 'mark-compact', []],
    ['turns', NOW + 100, NOW + 9000, '', [], 1234.25],
  ]);
});

test('a row that began before its stretch is found by its own time', async () => {
  const archive = await openArchive(newDirectory());
  archive.appendTimeline([rowAt(NOW - 5000)], resource(1), NOW, NOW + 10_000);
  expect(await archive.timeline(NOW - 6000, NOW - 4000)).toHaveLength(1);
});

test('a torn or changed line is left out and counted, and what follows in other files is read', async () => {
  const directory = newDirectory();
  const archive = await openArchive(directory);
  archive.appendTimeline([rowAt(NOW)], resource(1), NOW, NOW + 10_000);
  archive.appendTimeline([rowAt(NOW + 10_000)], resource(1), NOW + 10_000, NOW + 20_000);
  const [file] = filesOf(directory, TIMELINE).map((name) => join(directory, name));
  const whole = readFileSync(file, 'utf8');
  for (let cut = 1; cut < whole.length; cut += 7) {
    writeFileSync(file, whole.slice(0, cut));
    const lines = whole.slice(0, cut).split('\n');
    const fromUs = (await archive.timeline(NOW, NOW + 20_000)).map((stretch) => stretch.fromUs);
    // A line that lacks nothing but its line break is whole.
    const isWhole = cut === whole.length - 1 || whole[cut] === '\n';
    expect(fromUs).toHaveLength(lines.length - 1 + (isWhole ? 1 : 0));
  }
  writeFileSync(file, whole.replace('parse app.js:12', 'parse app.js:13'));
  const fresh = await openArchive(directory, { readOnly: true });
  expect(await fresh.timeline(NOW, NOW + 20_000)).toHaveLength(1);
  appendFileSync(file, 'no line of a timeline');
  await fresh.timeline(NOW, NOW + 20_000);
  expect((await fresh.stats()).timelineTornLines).toBe(2);
});

test('files cover ten minutes and go with the age that the archive keeps; a timeline is bounded', async () => {
  const directory = newDirectory();
  const archive = await openArchive(directory);
  for (let minute = 120; minute >= 0; minute -= 5) {
    const from = NOW - minute * MINUTE;
    archive.appendTimeline([collection(from)], resource(1), from, from + MINUTE);
  }
  expect(filesOf(directory, TIMELINE)).toHaveLength(13);
  await archive.retain({ maxAgeMs: 60 * 60_000 });
  const left = await archive.timeline(0, NOW + MINUTE);
  expect(left.at(0)?.fromUs).toBeGreaterThanOrEqual(NOW - 75 * MINUTE);
  expect(left.at(-1)?.fromUs).toBe(NOW);
  expect((await archive.stats()).timelineFilesDeleted).toBe(13 - filesOf(directory, TIMELINE).length);
  expect(() => archive.appendTimeline([], resource(1), NOW, NOW - 1)).toThrow('the earlier first');
  expect(() => archive.appendTimeline([], resource(1), Number.NaN, NOW)).toThrow('the earlier first');
  const many = Array.from({ length: 65_537 }, () => collection(NOW));
  expect(() => archive.appendTimeline(many, resource(1), NOW, NOW)).toThrow('at most 65536');
  const large = { ...rowAt(NOW), detail: 'x'.repeat(5 * 2 ** 20) };
  expect(() => archive.appendTimeline([large], resource(1), NOW, NOW)).toThrow('shorter stretches');
  await expect(archive.timeline(2, 1)).rejects.toThrow('the earlier time first');
});

test('all timelines together keep their bound, the newest stay', async () => {
  const directory = newDirectory();
  const archive = await openArchive(directory);
  const text = 'x'.repeat(3 * 2 ** 20);
  for (let i = 0; i < 25; i++) {
    const from = NOW + i * 20 * MINUTE;
    archive.appendTimeline([{ ...collection(from), detail: text }], resource(1), from, from + 1);
  }
  await archive.retain({ maxBytes: 2 ** 40 });
  const left = readdirSync(directory).filter((name) => TIMELINE.test(name));
  expect(left).toHaveLength(21);
  expect(await archive.timeline(NOW + 24 * 20 * MINUTE, NOW + 25 * 20 * MINUTE)).toHaveLength(1);
  expect(await archive.timeline(NOW, NOW + MINUTE)).toEqual([]);
});
