// Unpacks files of test/fixtures/old-files, which are base64 text of gzip, into a directory of one test.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';

const FIXTURES = join(import.meta.dirname, '../../fixtures/old-files');
const SUFFIX = '.b64';

/** The bytes of one old file. */
export const oldBytes = (name: string): Buffer =>
  gunzipSync(Buffer.from(readFileSync(join(FIXTURES, name + SUFFIX), 'latin1'), 'base64'));

/** Names of the old files in a folder of them. */
export const oldNames = (folder: string): string[] =>
  readdirSync(join(FIXTURES, folder))
    .filter((name) => name.endsWith(SUFFIX))
    .map((name) => name.slice(0, -SUFFIX.length))
    .sort();

/** A directory with the files of `folder`, an hour old: what wrote them is gone. */
export const unpack = (folder: string): string => {
  const directory = mkdtempSync(join(tmpdir(), 'spanline-old-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const hourAgo = Date.now() / 1000 - 3600;
  for (const name of oldNames(folder)) {
    const path = join(directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, oldBytes(join(folder, name)));
    utimesSync(path, hourAgo, hourAgo);
  }
  return directory;
};
