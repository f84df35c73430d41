// What a process had recorded when it was killed is all in its mapped file: each span once, and what was open.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { MAGIC } from '../../src/flight-recorder/block.js';
import { recoverSnapshot } from '../../src/flight-recorder/index.js';
import { bundleChild, root as packageRoot, runFile } from '../support/child.js';
import { lastFileIn } from './support/flight.js';

const directory = mkdtempSync(join(tmpdir(), 'spanline-flight-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const fresh = (): string => mkdtempSync(join(directory, 'x'));

/** Where the blocks of a file begin. */
const blocksIn = (bytes: Buffer): number[] => {
  const found: number[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readInt32LE(at + 8)) {
    if (bytes.readInt32LE(at) === MAGIC) found.push(at);
  }
  return found;
};

test('all that a process had recorded when it was killed is there, and what was open', async () => {
  const place = fresh();
  const child = await bundleChild(join(packageRoot, 'test/flight-recorder/children/killed.ts'));
  const { signal, stdout } = await runFile(child, { env: { FLIGHT_DIR: place } });
  expect(signal).toBe('SIGKILL');
  const [, before, openTraceId] = /(\d+) before (\w+)/.exec(stdout) ?? [];
  const recovered = await recoverSnapshot(place);
  expect(recovered.reason.kind).toBe('recovered');
  expect(recovered.tornRows).toBe(0);
  const traces = [...recovered.traces()];
  // Each once, in whatever order; and whole. One expectation for all: each costs more than the look at a trace.
  const wrong: string[] = [];
  const seen = new Set<number>();
  for (const { spans, traceId } of traces) {
    if (traceId === openTraceId) continue;
    const [root, local] = spans.map(({ record }) => record);
    const request = Number(root.properties.request);
    if (seen.has(request)) wrong.push(`${request} is there twice`);
    seen.add(request);
    const isRoot =
      root.name === `GET /${request % 10}` && root.properties.text === `ä${'x'.repeat((request + 1) % 90)}`;
    if (!isRoot || spans.length !== 2 || local.name !== 'local' || local.parentSpanId !== root.spanId)
      wrong.push(`${request} is not as it was`);
  }
  expect(wrong).toEqual([]);
  expect(seen).toEqual(new Set(Array.from({ length: Number(before) }, (_, i) => i)));
  const stuck = traces.find(({ traceId }) => traceId === openTraceId);
  expect(stuck?.spans.map(({ record, isOpen }) => `${record.name} ${isOpen}`).sort()).toEqual([
    'GET /stuck true',
    'ended false',
    'query true',
  ]);
  // The file that was written last loses its end, from the middle of its last block on: what follows that may be a record of the timeline.
  const last = lastFileIn(place);
  const bytes = readFileSync(last);
  const block = blocksIn(bytes).at(-1) as number;
  writeFileSync(last, bytes.subarray(0, block + 1000));
  const torn = await recoverSnapshot(place);
  expect(torn.tornRows).toBeGreaterThan(0);
  expect(torn.spanCount + torn.tornRows).toBe(recovered.spanCount);
});
