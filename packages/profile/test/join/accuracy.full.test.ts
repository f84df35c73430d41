// Spans get the share of the CPU that their work had: in one task, in tasks that take turns, and in local spans inside them.
import { expect, test } from 'vitest';
import { LocalSpan, Span, SpanContext, type SpanRecord } from '../../../../src/index.js';
import { samples } from '../../../../test/support/samples.js';
import { type JoinedProfile, joinProfile, type LabelledProfile, startProfile } from '../../src/index.js';
import { busyAcrossAwaits, ofWork, withSamples } from '../support/busy-work.js';
import { isByChance } from '../support/chance.js';
import { gathering, Truth } from './support/traced-work.js';

/** In 1000 samples a share of a quarter is found that is wrong by 0.13, in 20,000 one that is wrong by 0.03. */
const MIN = samples(1000, 1000, 20_000);

/** Requests that take turns: each reads, parses in local spans, and renders in a span. The shortest piece is long beside the microsecond of a sample's time. */
const request = async (
  name: string,
  units: number,
  cpuMs: number,
  truth: Truth,
  collector: ReturnType<typeof gathering>['collector'],
) => {
  const root = Span.root(name, SpanContext.random(), { collector });
  await root.runToEnd(() =>
    busyAcrossAwaits(cpuMs, async () => {
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
    }),
  );
};

test('two traces that take turns, with spans and local spans inside', async () => {
  let truth = new Truth();
  let records: readonly SpanRecord[] = [];
  const profile = await withSamples(MIN, async (cpuMs) => {
    truth = new Truth();
    const spans = gathering();
    const running = await startProfile({ everyMs: 0.5 });
    await Promise.all([
      request('a', 300, cpuMs, truth, spans.collector),
      request('b', 600, cpuMs, truth, spans.collector),
    ]);
    const taken = running.stop();
    records = await spans.records();
    return taken;
  });
  expectConserved(profile, records, joinProfile(profile, records));
  // Of the work alone: what spans and profile cost is the work of no name.
  const joined = joinProfile(ofWork(profile), records);
  for (const name of truth.names) {
    const found = records.reduce(
      (sum, record) => sum + (record.name === name ? (joined.cpuOf(record)?.self.samples ?? 0) : 0),
      0,
    );
    const { samples: all } = joined.attributed;
    expect(isByChance(found, all, truth.share(name)), `${name}: ${found} of ${all}, not ${truth.share(name)}`).toBe(
      true,
    );
  }
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
