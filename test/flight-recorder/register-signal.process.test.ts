// Under register a signal leaves the snapshot, and the traces are delivered. All other ends of a process: ends.full.test.ts.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readSnapshotFile } from '../../src/flight-recorder/index.js';
import { startServer } from '../exporters/support/http-server.js';
import { decodeSpans } from '../exporters/support/otlp-decode.js';
import { buildFirst } from '../support/built.js';
import { root as packageRoot, runFile } from '../support/child.js';

const directory = mkdtempSync(join(tmpdir(), 'spanline-signal-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

buildFirst();

test('a signal leaves the snapshot, and the traces are delivered', async () => {
  const sink = await startServer();
  const place = mkdtempSync(join(directory, 'x'));
  const result = await runFile(join(packageRoot, 'test/flight-recorder/children/served.mjs'), {
    execArgv: ['--import', 'spanline/register'],
    env: {
      SPANLINE_FLIGHT_RECORDER: 'on',
      SPANLINE_FLIGHT_TRIGGERS: 'signal=SIGTERM,crash,heap',
      SPANLINE_FLIGHT_DIRECTORY: place,
      OTEL_EXPORTER_OTLP_ENDPOINT: sink.url,
      OTEL_BSP_SCHEDULE_DELAY: '60000',
    },
    signalWhenReady: 'SIGTERM',
  });
  expect([result.signal, result.stderr]).toEqual(['SIGTERM', '']);
  const names = sink.requests.flatMap(({ body }) => decodeSpans(body).map(({ name }) => name));
  expect(names.filter((name) => name === 'GET').length).toBeGreaterThanOrEqual(50);
  const [file, ...more] = readdirSync(place);
  expect([file, more]).toEqual([expect.stringMatching(/-signal\.flight$/), []]);
  const { spanCount } = await readSnapshotFile(join(place, file));
  expect(spanCount).toBeGreaterThanOrEqual(names.length);
  await sink.close();
});
