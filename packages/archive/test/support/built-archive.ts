// An archive as it is built, whose worker thread runs, and a hand on that thread.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import { root } from '../../../../test/support/built.js';
import { expectSame } from '../../../../test/support/same-values.js';
import { Archive as SourceArchive } from '../../src/archive.js';
import type { ArchiveOptions } from '../../src/archive-options.js';
import { allSpans } from '../archive/support/directory.js';
import { numberedTrace } from '../archive/support/numbered-traces.js';
import { byId } from '../segment/support/segments.js';

const load = createRequire(import.meta.url);
const DIST = join(root, 'packages/archive/dist');

export const entries = { esm: join(DIST, 'esm/index.js'), cjs: join(DIST, 'cjs/index.js') };

export const traces = (first: number, count: number): ArchivedSpan[] =>
  Array.from({ length: count }, (_, i) => numberedTrace(first + i)).flat();

/** A built archive, in this process; the file must have had it built first. */
export const openBuilt = async (directory: string, options: ArchiveOptions = {}, entry = entries.cjs) => {
  const { Archive } = load(entry) as { readonly Archive: typeof SourceArchive };
  const archive = await Archive.open(directory, { maintain: false, ...options });
  onTestFinished(() => archive.close());
  return archive;
};

/** What is in a directory for somebody else: the first `count` traces, each once. */
export const checkAll = async (directory: string, count: number): Promise<void> => {
  const reader = await SourceArchive.open(directory, { readOnly: true });
  const spans = await allSpans(reader);
  await reader.close();
  expectSame(spans, byId(traces(0, count)));
};

let thread: Worker | undefined;
let released: Promise<void> | undefined;
process.on('worker', (started: Worker) => {
  thread = started;
  const { emit } = started;
  started.emit = ((name: string, ...rest: unknown[]) => {
    if (name !== 'message' || released === undefined) return emit.call(started, name, ...rest);
    released.then(() => emit.call(started, name, ...rest));
    return true;
  }) as typeof emit;
});

/** The thread that an archive started last. */
export const lastThread = (): Worker | undefined => thread;

/** Keeps back what worker threads answer, as if they were still at it; call what it gives to let the answers through. */
export const holdAnswers = (): (() => void) => {
  let release = (): void => {};
  released = new Promise((resolve) => {
    release = resolve;
  });
  return () => {
    released = undefined;
    release();
  };
};
