// Ingest files on disk for tests: real files in a directory of their own, removed when the test is over.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { IngestCommit } from '../../../src/ingest/ingest-commit.js';
import { type IngestOptions, readIngestFile } from '../../../src/ingest/read-file.js';

/** A fresh directory. */
export const directory = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'spanline-ingest-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
};

/** A fresh file with this content; anything but text and bytes is written as JSON. */
export const fileWith = (content: unknown, name = 'results.json'): string => {
  const path = join(directory(), name);
  const isText = typeof content === 'string' || content instanceof Uint8Array;
  writeFileSync(path, isText ? content : JSON.stringify(content, null, 2));
  return path;
};

/** All commits of a file; `name` is what errors and sources call it. */
export const commitsIn = async (path: string, options: IngestOptions = {}): Promise<IngestCommit[]> => {
  const commits: IngestCommit[] = [];
  for await (const commit of readIngestFile(path, { name: 'results.json', ...options })) commits.push(commit);
  return commits;
};

/** All commits of a content, in whatever format it is. */
export const commitsOf = (content: unknown, options: IngestOptions = {}): Promise<IngestCommit[]> =>
  commitsIn(fileWith(content), options);

/** Points as short lines, `key=value,... = number`, so that a test reads as a table. */
export const pointLines = ({ points }: IngestCommit): string[] =>
  points.map(({ params, value }) => {
    const keys = Object.keys(params).sort();
    return `${keys.map((key) => `${key}=${params[key]}`).join(',')} = ${value}`;
  });
