// The CPU time of a query is that of its nodes: reading is counted at the reads, checking ids at the intersection, little is left over.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { joinProfile, startProfile } from '../../packages/profile/src/index.js';
import { gathering } from '../../packages/profile/test/join/support/traced-work.js';
import { openTable } from '../../packages/tracedb/src/index.js';
import { runPlan } from '../../packages/tracedb/src/query/run-query.js';
import { SCHEMA, writeTile } from '../../packages/tracedb/test/query/support/tile-of-traces.js';
import { Span, SpanContext } from '../../src/index.js';

const TRACES = 20_000;
const MIN = 300;

test('of a tile in LMDB', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'spanline-query-cpu-'));
  const table = await openTable(dir, SCHEMA);
  onTestFinished(async () => {
    await table.close();
    rmSync(dir, { recursive: true });
  });
  const params = Array.from({ length: TRACES }, (_, i) => ({ test: `t${i}`, half: `h${i % 2}`, third: `t${i % 3}` }));
  const tile = await writeTile(table, params);
  const plan = await tile.plan('half=h0&third=t0&third=t1');
  const queryOnce = async (): Promise<void> => {
    for await (const _ of runPlan(table, plan, tile.layout, { tile: 0 }));
  };
  // Each try takes twice as long as the one before, so that one has enough samples.
  for (let rounds = 10; ; rounds *= 2) {
    const { collector, records } = gathering();
    const running = await startProfile({ everyMs: 0.25 });
    const root = Span.root('root', SpanContext.random(), { collector });
    await root.runToEnd(async () => {
      for (let round = 0; round < rounds; round++) await queryOnce();
    });
    const profile = running.stop();
    const spans = await records();
    const { attributed, cpuOf } = joinProfile(profile, spans);
    const self = (name: string): number =>
      spans.reduce((sum, span) => sum + (span.name === name ? (cpuOf(span)?.self.samples ?? 0) : 0), 0);
    const all = attributed.samples;
    if (all < MIN) continue;
    // Half of the samples were at the reads and a tenth at the rest, of Node 20. Of 300 (draws of two, see chance.ts) fewer than a fifth or more than a
    // third come by chance less often than once in 10^9 runs.
    expect(self('table.read-keys')).toBeGreaterThan(all * 0.2);
    expect(self('query.intersection') + self('query.union')).toBeGreaterThan(0);
    expect(self('root') + self('query')).toBeLessThan(all / 3);
    return;
  }
});
