// What the server answers of the benchmark history of the OpenTelemetry JS SDK against the store's own functions, and a foreign page that may change
// nothing.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../../../test/support/built.js';
import {
  ingestFiles,
  openTable,
  PERF_SCHEMA,
  PerfStore,
  readSeries,
  type WideColumnTable,
} from '../../tracedb/src/index.js';
import { RegressionTriage } from '../../tracedb/src/perf/regression-triage.js';
import type { KeysAnswer, SeriesAnswer, StepAnswer } from '../src/api/history/answers.js';
import { useServer } from './support/served.js';

let directory: string;
let table: WideColumnTable;
let perf: PerfStore;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spanline-ui-'));
  table = await openTable(join(directory, 'perf'), PERF_SCHEMA);
  perf = await PerfStore.open(table);
  await ingestFiles(perf, [join(root, 'examples/data/otel-js-benchmarks.jsonl.gz')]);
});
afterAll(async () => {
  await table?.close();
  await rm(directory, { recursive: true, force: true });
});
const serve = useServer();

const ask = async <T>(url: string, path: string): Promise<T> => {
  const response = await fetch(`${url}/api/history/${path}`);
  expect(response.status).toBe(200);
  return (await response.json()) as T;
};

const say = (url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/api/history/triage`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

describe('what the server answers of a history', () => {
  test('keys, the count and the series are those of the store', async () => {
    const url = await serve({ perf });
    const keys = await ask<KeysAnswer>(url, 'keys?query=unit%3Dops_sec');
    expect(keys.count).toBe(await perf.count(keys.tile as number, 'unit=ops_sec'));
    expect(keys.count).toBeGreaterThan(0);
    expect(keys.keys.find(({ key }) => key === 'unit')?.values).toContain('ops_sec');
    const answer = await ask<SeriesAnswer>(url, 'series?query=unit%3Dops_sec&last=300');
    const model = await readSeries(perf, 'unit=ops_sec', { last: 300 });
    expect(answer.series.length + answer.left).toBe(model.length);
    for (const { key, values } of answer.series) {
      const one = model.find((other) => other.key === key);
      const found = answer.commits.numbers.flatMap((number, i) => (values[i] === null ? [] : [[number, values[i]]]));
      expect(found).toEqual(one?.commits.map(({ number }, i) => [number, one.values[i]]));
    }
  });

  test('a step has the commits behind the last one before it', async () => {
    const url = await serve({ perf });
    const step = await ask<StepAnswer>(url, 'step?from=100&to=104&query=');
    expect(step.commits.numbers).toEqual([101, 102, 103, 104]);
    for (const { before, after, change } of step.compared)
      expect(change).toBeCloseTo((after - before) / Math.abs(before));
  });

  test('what is wrong is refused, and a foreign page may change nothing', async () => {
    const url = await serve({ perf });
    expect((await fetch(`${url}/api/history/series?last=x`)).status).toBe(400);
    expect((await fetch(`${url}/api/history/keys?query=%3D`)).status).toBe(400);
    expect((await fetch(`${await serve({})}/api/history/keys`)).status).toBe(404);
    const body = { commit: 7, key: ',a=b,', status: 'positive' };
    expect((await say(url, body, { origin: 'http://elsewhere.example' })).status).toBe(403);
    expect((await say(url, body, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await say(url, { ...body, status: 'fine' })).status).toBe(400);
    expect((await say(url, null)).status).toBe(400);
    expect(await new RegressionTriage(table).list()).toEqual([]);
  });
});
