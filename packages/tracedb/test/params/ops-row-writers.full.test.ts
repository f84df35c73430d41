// Sixteen writers in four processes extend one param set round after round: nothing anyone added is lost, no id that was given out
// ever means something else, and every value is found under its params.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../../../test/support/child.js';
import { samples } from '../../../../test/support/samples.js';
import type { Params } from '../../src/params/param-text.js';
import { PERF_SCHEMA, PerfStore } from '../../src/perf/perf-store.js';
import { openTable } from '../../src/table/open-table.js';
import { bundleProgram, startProgram } from '../support/child.js';
import { onBothEngines } from '../support/on-both-engines.js';

const PROCESSES = 4;
const WRITERS = 4;
const ROUNDS = samples(10, 10, 100);

interface Round {
  readonly writer: number;
  readonly round: number;
  readonly ids: readonly (readonly [id: string, params: Params])[];
}

onBothEngines('16 writers in 4 processes', (engine) => {
  test(`lose nothing in ${ROUNDS} rounds`, async () => {
    const location = await engine.location();
    const table = await openTable(location, PERF_SCHEMA);
    const perf = await PerfStore.open(table);
    const program = await bundleProgram(join(root, 'packages/tracedb/test/params/children/ops-writers.ts'));
    const children = Array.from({ length: PROCESSES }, (_, i) =>
      startProgram(program, [location, `${i * WRITERS}`, `${WRITERS}`, `${ROUNDS}`]),
    );
    const reports = await Promise.all(
      children.map(async (child) => {
        expect({ ...(await child.finish()), stderr: child.stderr() }).toEqual({ code: 0, signal: null, stderr: '' });
        return child.lines.map((line) => JSON.parse(line) as Round & { stats?: { conflicts: number; gaveUp: number } });
      }),
    );
    const lines = reports.flat();
    const reported = lines.filter(({ stats }) => stats === undefined);
    expect(reported.length).toBe(PROCESSES * WRITERS * ROUNDS);

    const ops = await perf.orderedParamSet(0);
    // Every id that anyone was given means what it meant, and nothing else.
    const given = new Map<string, Params>();
    for (const { ids } of reported) for (const [id, params] of ids) given.set(id, params);
    const changed = [...given].filter(
      ([id, params]) => JSON.stringify(sorted(ops.decode(id))) !== JSON.stringify(sorted(params)),
    );
    expect(changed).toEqual([]);
    // 16 own values a round, and what all share.
    expect(ops.values('own').length).toBe(PROCESSES * WRITERS * ROUNDS);
    expect([...ops.values('own')].sort()).toEqual(reported.map(({ writer, round }) => `w${writer}-${round}`).sort());
    expect(ops.values('shared').length).toBe(ROUNDS);

    // Values that were written are there, under the params they were written with.
    const written = reported.filter(({ writer, round }) => round % 10 === writer % 10);
    const found = new Map<string, number>();
    for await (const traces of perf.query(0, 'kind=own')) {
      for (const { params, values } of traces)
        for (const value of values) if (!Number.isNaN(value)) found.set(params.own as string, value);
    }
    expect(found.size).toBe(written.length);
    for (const { writer, round } of written) expect(found.get(`w${writer}-${round}`)).toBe(writer * 1000 + round);
    let shared = 0;
    for await (const traces of perf.query(0, 'kind=shared')) {
      for (const { params, values } of traces) {
        const round = Number(params.shared?.slice(1));
        for (const [writer, value] of values.entries()) {
          if (Number.isNaN(value)) continue;
          expect(value).toBe(writer * 1000 + round);
          shared++;
        }
      }
    }
    expect(shared).toBe(written.length);

    // The writers of one process all read the row before any of them writes it: they do meet.
    const stats = lines.flatMap((line) => line.stats ?? []);
    expect(stats.reduce((sum, { conflicts }) => sum + conflicts, 0)).toBeGreaterThan(0);
    expect(stats.every(({ gaveUp }) => gaveUp === 0)).toBe(true);
    await table.close();
  }, 240_000);
});

const sorted = (params: Params): [string, string][] => Object.entries(params).sort();
