// The directory of triggers stays bounded, whatever was left in it, and what is not the recorder's stays.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SnapshotDirectory } from '../../src/flight-recorder/snapshot-file.js';

const directory = mkdtempSync(join(tmpdir(), 'spanline-directory-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const fresh = (): string => mkdtempSync(join(directory, 'x'));

test('names are in order of time, and none comes twice', () => {
  const place = new SnapshotDirectory(fresh(), 10);
  const names = Array.from({ length: 50 }, () => basename(place.pathFor('slow')));
  expect([...new Set(names)].sort()).toEqual(names);
  expect(names[0]).toMatch(
    new RegExp(`^\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\d\\.\\d{3}Z-${process.pid}-slow\\.flight$`),
  );
});

test('the oldest are deleted, of whatever process and trigger they are', () => {
  const place = fresh();
  const name = (minute: number, who: string, kind: string): string =>
    `2026-01-31T12-0${minute}-00.000Z-${who}-${kind}.flight`;
  const files = [name(1, '999', 'slow'), name(2, '7.3', 'heap-limit'), name(3, '12', 'signal'), name(4, '1', 'stall')];
  for (const file of files) writeFileSync(join(place, file), '');
  new SnapshotDirectory(place, 2).removeOld();
  expect(readdirSync(place)).toEqual(files.slice(2));
});

test('what writers that were killed have left is deleted, what is under way is not, nor what is of others', () => {
  const place = fresh();
  const name = '2026-01-31T12-00-00.000Z-999-heap-limit.flight';
  const left = [`${name}.partial`, `.${name}.999-0a1b2c3d.tmp`];
  const others = ['2026-backup.flight', 'notes.partial', '.profile.999-0a1b2c3d.tmp', `${name}.partial.gz`];
  for (const file of [...left, ...others]) {
    writeFileSync(join(place, file), '');
    utimesSync(join(place, file), 0, 0);
  }
  const inFlight = `.${name}.999-ffffffff.tmp`;
  writeFileSync(join(place, inFlight), '');
  new SnapshotDirectory(place, 1).removeOld();
  expect(readdirSync(place).sort()).toEqual([inFlight, ...others].sort());
});

test('what cannot be deleted, or listed, is not an error', () => {
  const place = fresh();
  for (const minute of [1, 2])
    mkdirSync(join(place, `2026-01-31T12-0${minute}-00.000Z-1-slow.flight`, 'full'), { recursive: true });
  const of = new SnapshotDirectory(place, 1);
  of.removeOld();
  expect(readdirSync(place).length).toBe(2);
  rmSync(place, { recursive: true });
  of.removeOld();
});
