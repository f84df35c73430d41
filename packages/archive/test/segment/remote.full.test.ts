// A segment behind a slow web server is read in few round trips: one trace in three, opening included, and a thousand in twenty.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import { type RangeServer, startRangeServer } from '../../../graph/test/container/support/range-server.js';
import { Segment } from '../../src/segment/segment.js';
import { byId, segmentBytes, traceIdOf, tracesOf } from './support/segments.js';
import { syntheticSpans } from './support/synthetic-spans.js';

const TRACES = 10_000;
let server: RangeServer;
let traces: Map<string, ArchivedSpan[]>;
let bytes: Buffer;

beforeAll(async () => {
  const spans = syntheticSpans({ traces: TRACES, spansPerTrace: 30, seed: 61 });
  traces = tracesOf(spans);
  bytes = segmentBytes(spans);
  server = await startRangeServer(bytes);
  server.latencyMs = 20;
});
afterAll(() => server.close());

/** Round trips of `work`, and bytes read. */
const counted = async (work: () => Promise<void>): Promise<number> => {
  const before = server.roundTrips;
  await work();
  return server.roundTrips - before;
};

test('one trace, cold', async () => {
  const id = [...traces.keys()][1321];
  const trips = await counted(async () => {
    const segment = await Segment.open(server.url);
    expect(byId((await segment.traces([id])).get(id) ?? [])).toEqual(byId(traces.get(id) ?? []));
    expect(segment.stats().transport.bytes).toBeLessThan(bytes.length / 10);
    await segment.close();
  });
  expect(trips).toBeLessThanOrEqual(3);
});

test('a tenth of all traces, cold', async () => {
  const ids = [...traces.keys()].filter((_, i) => i % 10 === 3);
  const trips = await counted(async () => {
    const segment = await Segment.open(server.url);
    const found = await segment.traces(ids);
    expect([...found.keys()]).toEqual(ids);
    for (const [id, spans] of found) expect(spans).toHaveLength(traces.get(id)?.length ?? -1);
    await segment.close();
  });
  expect(trips).toBeLessThanOrEqual(20);
});

test('a trace that is not there costs no round trip but those of opening', async () => {
  const segment = await Segment.open(server.url);
  const absent = Array.from({ length: 200 }, (_, n) => traceIdOf(n + 1)).filter((id) => !segment.mayHave(id));
  expect(absent.length).toBeGreaterThan(180);
  expect(await counted(async () => expect(await segment.traces(absent)).toEqual(new Map()))).toBe(0);
  await segment.close();
});

test('a search for the newest', async () => {
  const segment = await Segment.open(server.url);
  const trips = await counted(async () => {
    expect(await segment.summaries({ limit: 5 })).toHaveLength(5);
  });
  expect(trips).toBeLessThanOrEqual(3);
  await segment.close();
});
