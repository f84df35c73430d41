// A traced query tells how it was answered: a span for the plan, every node and every read, each with rows, bytes, ids in and out, and
// waiting; a query without a trace leaves none.
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { SpanRecord } from '../../../../src/record/record.js';
import { counted, type Recorder, recorder } from '../../../../test/support/recorder.js';
import { compareCommits, readSeries } from '../../src/perf/histories.js';
import { ingestFile } from '../../src/perf/ingest-files.js';
import { PERF_SCHEMA, PerfStore } from '../../src/perf/perf-store.js';
import type { WideColumnTable } from '../../src/table/wide-column-table.js';
import { onBothEngines } from '../support/on-both-engines.js';

const drain = async <T>(batches: AsyncIterable<readonly T[]>): Promise<number> => {
  let count = 0;
  for await (const batch of batches) count += batch.length;
  return count;
};

const traced = async (work: () => Promise<unknown>): Promise<Recorder> => {
  const recording = recorder();
  const root = recording.root('root');
  await root.run(work);
  root.end();
  await recording.collector.flush();
  return recording;
};

const indented = (...lines: readonly string[]): string => lines.join('\n');

onBothEngines('a traced', (engine) => {
  let perf: PerfStore;
  beforeAll(async () => {
    perf = await PerfStore.open(await engine.table(PERF_SCHEMA), { shards: 2 });
    const points = Array.from({ length: 40 }, (_, i) => ({
      params: { arch: i % 4 === 0 ? 'arm' : 'x86', test: `t${i}` },
      value: i,
    }));
    await perf.writeTraces(0, points, { source: 's', timestampMs: 1 });
  });

  const named = ({ memory }: Recorder, name: string): SpanRecord[] => memory.spans.filter((span) => span.name === name);
  const figures = (span: SpanRecord | undefined) => {
    expect(span?.properties['wait.ms']).toBeGreaterThanOrEqual(0);
    const { 'ids.in': idsIn, 'ids.out': idsOut } = span?.properties ?? {};
    return [idsIn, idsOut];
  };

  test('query of one value', async () => {
    const trace = await traced(() => drain(perf.query(0, 'arch=arm')));
    const reads = indented('', '  perf.read-traces', '    table.read');
    const whole = indented(
      'root',
      '  query.plan',
      '    table.read-row',
      '  query',
      '    query.leaf',
      '      table.read-keys',
    );
    // The ids come in batches as the store has them; the traces of each are read.
    const batches = named(trace, 'perf.read-traces');
    expect(await trace.tree()).toBe(whole + reads.repeat(batches.length));
    const { memory } = trace;
    expect(memory.find('query.plan')?.properties).toEqual({ kind: 'select' });
    expect(memory.find('query')?.properties).toMatchObject({ tile: 0, 'ids.out': 10 });
    expect(memory.find('query.leaf')?.properties).toMatchObject({ key: 'arch', value: 'arm', batches: batches.length });
    expect(figures(memory.find('query.leaf'))).toEqual([10, 10]);
    expect(memory.find('table.read-keys')?.properties).toMatchObject({
      engine: perf.table.engine,
      selection: 'prefix "j2147483647:0:0:"',
      rows: 10,
      bytes: expect.any(Number),
    });
    const sum = (name: string, property: string): number =>
      named(trace, name).reduce((all, { properties }) => all + (properties[property] as number), 0);
    expect([sum('perf.read-traces', 'ids'), sum('perf.read-traces', 'traces'), sum('table.read', 'rows')]).toEqual([
      10, 10, 10,
    ]);
    expect(sum('table.read', 'bytes')).toBeGreaterThan(40);
    for (const { status } of memory.spans) expect(status.code).toBe('unset');
  });

  test('query of several values of one key', async () => {
    const trace = await traced(() => drain(perf.queryIds(0, 'test=t1&test=t2&test=nosuch')));
    expect(await trace.tree()).toBe(
      indented(
        'root',
        '  query.plan',
        '    table.read-row',
        '  query',
        '    query.union',
        '      query.leaf',
        '        table.read-keys',
        '      query.leaf',
        '        table.read-keys',
      ),
    );
    expect(trace.memory.find('query.union')?.properties).toMatchObject({ key: 'test', values: 2 });
    expect(figures(trace.memory.find('query.union'))).toEqual([2, 2]);
    expect(named(trace, 'query.leaf').map(({ properties }) => properties.value)).toEqual(['t1', 't2']);
  });

  test('query of several keys', async () => {
    const trace = await traced(() => drain(perf.queryIds(0, 'arch=arm&test=~^t1')));
    // t12 and t16 are on arm.
    const [intersection] = named(trace, 'query.intersection');
    expect(intersection?.properties).toMatchObject({ conditions: 2, 'ids.out': 2 });
    expect(figures(intersection)[0]).toBeGreaterThan(0);
    expect(named(trace, 'query.leaf').length).toBeGreaterThan(1);
    expect(await trace.tree()).toMatch(
      /^root\n {2}query.plan\n {4}table.read-row\n {2}query\n {4}query.intersection\n {6}query\./,
    );
    expect(await trace.tree()).not.toContain('parent missing');
  });

  test('count of all', async () => {
    const trace = await traced(() => perf.count(0));
    expect(await trace.tree()).toBe(
      indented(
        'root',
        '  query.plan',
        '    table.read-row',
        '  query',
        '    query.scan',
        '      query.leaf',
        '        table.read-keys',
        '      query.leaf',
        '        table.read-keys',
      ),
    );
    expect(figures(trace.memory.find('query.scan'))).toEqual([40, 40]);
    const leaves = named(trace, 'query.leaf').map((leaf) => figures(leaf)[1] as number);
    expect(leaves.reduce((sum, ids) => sum + ids)).toBe(40);
  });

  test('query that can select nothing', async () => {
    const trace = await traced(() => drain(perf.query(0, 'arch=sparc')));
    expect(await trace.tree()).toBe(indented('root', '  query.plan', '    table.read-row'));
    expect(trace.memory.find('query.plan')?.properties).toEqual({
      kind: 'empty',
      reason: 'no value of "arch" in this tile is one of "sparc"',
    });
  });

  test('query whose read dies has the failure on the read, on the node above and on the query', async () => {
    const died = new Error('died');
    const dying: WideColumnTable = new Proxy(perf.table, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (name !== 'readKeys') return value.bind(target) as unknown;
        // biome-ignore lint/correctness/useYield: it fails before it has anything
        return async function* () {
          throw died;
        };
      },
    });
    const broken = await PerfStore.open(dying);
    const trace = await traced(() => expect(drain(broken.query(0, 'arch=arm'))).rejects.toBe(died));
    for (const name of ['query.leaf', 'query']) {
      const [span] = named(trace, name);
      expect(span?.status.code).toBe('error');
      expect(span?.events[0]?.properties).toMatchObject({ 'exception.message': 'died' });
    }
    expect(named(trace, 'query.plan')[0]?.status.code).toBe('unset');
  });

  test('query that is stopped says so, and leaves no span open', async () => {
    const controller = new AbortController();
    const trace = await traced(async () => {
      const ids = perf.queryIds(0, 'test=*&arch=x86', { signal: controller.signal });
      await ids.next();
      controller.abort();
      await expect(ids.next()).rejects.toMatchObject({ code: 'ERR_SPANLINE_ABORTED' });
    });
    expect(named(trace, 'query')[0]?.status.code).toBe('error');
    // Those that were not read yet too: one for each of 40 tests and one for the arch.
    expect(named(trace, 'query.leaf')).toHaveLength(41);
    expect(trace.collector.stats()).toMatchObject({ openTraces: 0, openBytes: 0 });
    expect(await trace.tree()).not.toContain('parent missing');
  });

  test('write', async () => {
    const store = await PerfStore.open(await engine.table(PERF_SCHEMA));
    const points = [{ params: { a: 'b', c: 'd' }, value: 1 }];
    const trace = await traced(() => store.writeTraces(0, points, { source: 's', timestampMs: 1 }));
    expect(await trace.tree()).toBe(
      indented(
        'root',
        '  perf.write',
        '    table.write',
        '    perf.write-tile',
        '      ops.update',
        '        table.read-row',
        '        table.check-and-write',
        '      table.write',
        '      table.write',
      ),
    );
    const { memory } = trace;
    expect(memory.find('perf.write')?.properties).toEqual({ points: 1, missing: 0, indexed: 1 });
    expect(memory.find('perf.write-tile')?.properties).toEqual({ tile: 0, points: 1, missing: 0, indexed: 1 });
    expect(memory.find('ops.update')?.properties).toMatchObject({ row: '@2147483647', attempts: 1, added: 2 });
    expect(named(trace, 'table.write').map(({ properties }) => properties.rows)).toEqual([1, 1, 2]);
  });

  test('function is a span over all it does', async () => {
    const trace = await traced(async () => {
      await expect(ingestFile(perf, join(import.meta.dirname, 'no-such-file.json'))).rejects.toThrow();
      await readSeries(perf, 'arch=arm');
      await compareCommits(perf, 0, 1, 'arch=arm');
    });
    for (const name of ['perf.ingest-file', 'perf.read-series', 'perf.compare-commits']) {
      expect(named(trace, name)).toHaveLength(1);
    }
    expect(named(trace, 'perf.ingest-file')[0].status).toMatchObject({ code: 'error' });
    expect(await trace.tree()).toMatch(/^ {2}perf\.read-series\n {4}table\.read/m);
  });

  test('query outside of a trace starts no span and misses none', async () => {
    expect(await counted(() => drain(perf.query(0, 'arch=arm&test=*')))).toEqual({});
  });
});
