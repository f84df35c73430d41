// Spans get the share of the CPU that their work had: in one task, in tasks that take turns, and in local spans inside them.
import { expect, test } from 'vitest';
import { LocalSpan, Span, SpanContext, type SpanRecord } from '../../../src/index.js';
import { type JoinedProfile, joinProfile, type LabelledProfile, startProfile } from '../../../src/profile/index.js';
import { withSamples } from '../support/busy-work.js';
import { gathering, Truth } from './support/traced-work.js';

const MS = 1200;
const LEAST = 800;
/** Five standard errors of a share of a half of LEAST samples are 0.09. */
const SLACK = 0.09;

/** Requests that take turns: each reads, parses in local spans, and renders in a span. */
const request = async (
  name: string,
  units: number,
  truth: Truth,
  collector: ReturnType<typeof gathering>['collector'],
) => {
  const root = Span.root(name, SpanContext.random(), { collector });
  const end = performance.now() + MS;
  await root.runToEnd(async () => {
    while (performance.now() < end) {
      truth.work(name, units);
      const parse = LocalSpan.start(`${name} parse`);
      truth.work(`${name} parse`, 2 * units);
      const inner = LocalSpan.start(`${name} token`);
      truth.work(`${name} token`, units);
      inner.end();
      parse.end();
      await undefined;
      await Span.startWithLocalParent(`${name} render`).runToEnd(async () => {
        await undefined;
        truth.work(`${name} render`, 3 * units);
      });
    }
  });
};

const selfShares = (joined: JoinedProfile, records: readonly SpanRecord[]): Map<string, number> => {
  const shares = new Map<string, number>();
  for (const record of records) {
    const ns = joined.cpuOf(record)?.self.ns ?? 0;
    shares.set(record.name, (shares.get(record.name) ?? 0) + ns / joined.attributed.ns);
  }
  return shares;
};

test('two traces that take turns, with spans and local spans inside', async () => {
  let truth = new Truth();
  let records: readonly SpanRecord[] = [];
  const profile = await withSamples(LEAST, async () => {
    truth = new Truth();
    const spans = gathering();
    const running = await startProfile({ everyMs: 0.5 });
    await Promise.all([request('a', 10, truth, spans.collector), request('b', 20, truth, spans.collector)]);
    const taken = running.stop();
    records = await spans.records();
    return taken;
  });
  const joined = joinProfile(profile, records);
  const shares = selfShares(joined, records);
  for (const name of truth.names) {
    expect(Math.abs((shares.get(name) ?? 0) - truth.share(name)), name).toBeLessThan(SLACK);
  }
  expectConserved(profile, records, joined);
});

const expectConserved = (
  profile: LabelledProfile,
  records: readonly SpanRecord[],
  { attributed, unattributed, traces, cpuOf }: JoinedProfile,
): void => {
  const { total, idle, gc } = profile.counts;
  expect(attributed.samples + unattributed.samples).toBe(total - idle - gc);
  let self = 0;
  for (const record of records) self += cpuOf(record)?.self.samples ?? 0;
  expect(self).toBe(attributed.samples);
  // Every span is below its root.
  let inRoots = 0;
  for (const record of records) if (record.parentSpanId === '') inRoots += cpuOf(record)?.total.samples ?? 0;
  expect(inRoots).toBe(attributed.samples);
  let inTraces = 0;
  for (const { samples } of traces.values()) inTraces += samples;
  expect(inTraces).toBe(attributed.samples);
};
