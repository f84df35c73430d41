// pprof says the same to Go's reader as the profile does: shares by label, stacks, times; and reads back without loss.
import { gunzipSync } from 'node:zlib';
import { Profile } from 'pprof-format';
import { describe, expect, test } from 'vitest';
import { SampleKind } from '../../src/labelled-profile.js';
import { toPprof } from '../../src/output/pprof.js';
import { readProfile } from '../../src/output/read-profile.js';
import { selectLabels } from '../../src/output/select-labels.js';
import { shares } from '../../src/shares.js';
import { asksGoPprof, goPprof, goPprofTags } from '../support/go-pprof.js';
import { HOSTILE, hostile, sampled, shop, summary, wellFormed } from '../support/sampled.js';

const noLabels = () => false;

/** The part of a report that is not a header. */
const body = (report: string): string => report.slice(report.indexOf('Showing nodes'));

describe.skipIf(!asksGoPprof)('go tool pprof', () => {
  test('-tags shows the shares of each key', async () => {
    const { query, rows } = goPprofTags(await toPprof(shop()));
    const [max, min] = [
      { ms: 600, share: expect.closeTo(600 / 810, 3) },
      { ms: 210, share: expect.closeTo(210 / 810, 3) },
    ];
    expect(query).toEqual({ q1: max, q2: min });
    expect(rows).toEqual({ 7: max, 9: min });
  });

  test('-tagfocus keeps one query, by text or by number', async () => {
    const bytes = await toPprof(shop());
    for (const focus of ['query=q2', 'rows=9:9']) {
      const top = goPprof(bytes, ['-top', `-tagfocus=${focus}`]);
      expect(top).toContain('accounting for 210ms, 21.00% of 1000ms total');
      expect(top).toMatch(/200ms .* scan/);
      expect(top).not.toContain('parse');
    }
  });

  test('-tagroot stands the queries at the root', async () => {
    const top = goPprof(await toPprof(shop()), ['-top', '-cum', '-tagroot=query']);
    expect(top).toMatch(/0 +0% .* 600ms 60\.00% +q1/);
    expect(top).toMatch(/0 +0% .* 210ms 21\.00% +q2/);
  });

  test('-raw has types, period, times and units', async () => {
    const profile = sampled([{ stack: ['main'], labels: { sizeBytes: 4096, wait_ms: 3, pages: 2 }, samples: 3 }]);
    const raw = goPprof(await toPprof(profile, { units: { pages: 'pages' } }), ['-raw']);
    expect(raw).toContain('samples/count cpu/nanoseconds[dflt]');
    expect(raw).toContain('PeriodType: cpu nanoseconds\nPeriod: 1000000\n');
    expect(raw).toContain('Time: 2025-06-15 15:06:40.123');
    expect(raw).toContain('Duration: 3ms');
    expect(raw).toMatch(/3 +3000000: 1/);
    expect(raw).toContain('4096 bytes');
    expect(raw).toContain('3 milliseconds');
    expect(raw).toContain('2 pages');
  });

  test('a flame graph without labels is the one with labels', async () => {
    const report = ['-tree', '-nodefraction=0', '-edgefraction=0', '-nodecount=1000'];
    const labelled = goPprof(await toPprof(shop()), report);
    expect(body(labelled)).toContain('parse');
    expect(body(labelled)).toBe(body(goPprof(await toPprof(selectLabels(shop(), noLabels)), report)));
  });

  test('hostile text arrives as it is', async () => {
    const tags = goPprof(await toPprof(hostile()), ['-tags']);
    for (const text of HOSTILE) expect(tags).toContain(text.replace('\ud800', '\ufffd'));
  });
});

test('reads back without loss: stacks, labels, samples and CPU time', async () => {
  for (const profile of [shop(), shop(7), selectLabels(shop(), noLabels)]) {
    const again = await readProfile(await toPprof(profile));
    expect(summary(again)).toEqual(summary(profile));
    expect(shares(again, 'query').map(({ value, share }) => [value, share.toFixed(9)])).toEqual(
      shares(profile, 'query').map(({ value, share }) => [value, share.toFixed(9)]),
    );
    const { idle, total, ...counts } = profile.counts;
    expect(again.counts).toEqual({ ...counts, idle: 0, total: total - idle });
    const { startUnixNs, unit, intervalNs, carrier, threadId } = profile;
    expect(again).toMatchObject({ startUnixNs, unit, intervalNs, carrier, threadId });
    expect(again.endNs - again.startNs).toBe(profile.endNs - profile.startNs);
  }
});

test('hostile text reads back, but for half characters, which UTF-8 does not have', async () => {
  const profile = hostile();
  expect(summary(await readProfile(await toPprof(profile)))).toEqual(wellFormed(summary(profile)));
});

test('garbage collection is nobody’s, idle time is left out, CPU time is conserved', async () => {
  const profile = shop();
  const file = Profile.decode(gunzipSync(await toPprof(profile)));
  const cpuNs = file.sample.reduce((sum, { value }) => sum + Number(value[1]), 0);
  expect(cpuNs).toBe(profile.samples.cpuNs.reduce((sum, ns) => sum + ns, 0));
  const samples = file.sample.reduce((sum, { value }) => sum + Number(value[0]), 0);
  expect(samples).toBe(profile.samples.kind.filter((kind) => kind !== SampleKind.idle).length);
  const names = new Map(file.function.map(({ id, name }) => [id, file.stringTable.strings[Number(name)]]));
  expect([...names.values()]).not.toContain('(idle)');
  const gc = [...names].find(([, name]) => name === '(garbage collector)')?.[0];
  const ofGc = file.sample.filter(({ locationId }) => locationId.includes(gc ?? -1));
  expect(ofGc.map(({ label }) => label.length)).toEqual([0]);
});

test('numbers that the format cannot hold travel as text, empty text as no label', async () => {
  const labels = { ratio: 0.5, below: -3, zero: 0, nothing: '', '': 'no key', most: Number.MAX_SAFE_INTEGER };
  const again = await readProfile(await toPprof(sampled([{ stack: ['main'], labels, samples: 1 }])));
  const { nothing: _, ...kept } = labels;
  expect(again.labels[again.samples.label[0]]).toEqual({ ...kept, ratio: '0.5' });
});

test('an anonymous function has a name for people and none when read back', async () => {
  const profile = sampled([{ stack: [{ functionName: '', url: 'file:///a.js', line: 3, column: 9 }], samples: 1 }]);
  const again = await readProfile(await toPprof(profile));
  expect(summary(again)).toEqual(summary(profile));
});

test('functions of one name in one file are told apart by their places', async () => {
  const at = (line: number) => ({ functionName: '', url: 'file:///a.js', line, column: 9 });
  const profile = sampled([
    { stack: [at(3)], samples: 1 },
    { stack: [at(7)], samples: 2 },
  ]);
  expect(summary(await readProfile(await toPprof(profile)))).toEqual(summary(profile));
});

test('a mapping that needs no look-up, with the name of the program; functions with the line they begin in', async () => {
  const profile = sampled([{ stack: ['main'], samples: 1 }]);
  const file = Profile.decode(gunzipSync(await toPprof(profile, { program: 'shop' })));
  const text = (at: number | bigint) => file.stringTable.strings[Number(at)];
  expect(file.mapping).toHaveLength(1);
  const [{ id, filename, ...flags }] = file.mapping;
  expect([text(filename), Number(file.location[0].mappingId)]).toEqual(['shop', Number(id)]);
  expect(flags).toMatchObject({
    hasFunctions: true,
    hasFilenames: true,
    hasLineNumbers: true,
    hasInlineFrames: true,
  });
  expect(file.function.map(({ name, startLine }) => [text(name), Number(startLine)])).toEqual([['main', 10]]);
});

test('samples of a file without times are spread evenly over its length', async () => {
  const { samples, startNs, endNs } = await readProfile(await toPprof(shop()));
  const step = (endNs - startNs) / samples.count;
  expect(samples.atNs[0]).toBe(0);
  for (let i = 1; i < samples.count; i++) expect(samples.atNs[i] - samples.atNs[i - 1]).toBeCloseTo(step, 3);
});
