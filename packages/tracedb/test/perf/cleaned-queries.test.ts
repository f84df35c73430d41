// Params are cleaned when files are ingested, and so are the keys and values of queries, by the rule of the store: a name as it
// stands in a file finds its traces, and a name that nothing has says what is near it.
import { beforeAll, describe, expect, test } from 'vitest';
import { cleaningRule, forceValid, type Params } from '../../src/params/param-text.js';
import { ingestFile } from '../../src/perf/ingest-files.js';
import { PERF_SCHEMA, PerfStore } from '../../src/perf/perf-store.js';
import { fileWith } from '../ingest/support/ingest-files.js';
import { onBothEngines, onLmdb } from '../support/on-both-engines.js';

const result = (key: Params) => ({ key, measurement: 1 });

const ingested = {
  version: 1,
  git_hash: 'c1',
  results: [
    result({ test: 'hello/mean', 'test kind': 'a b' }),
    result({ test: 'hello/max', 'test kind': 'a b' }),
    result({ test: 'world', 'test kind': 'c' }),
  ],
};

const tests = async (perf: PerfStore, query: string): Promise<string[]> => {
  const found: string[] = [];
  for await (const traces of perf.query(0, query)) for (const { params } of traces) found.push(params.test as string);
  return found.sort();
};

const reason = async (perf: PerfStore, query: string): Promise<string> => {
  const plan = await perf.planOf(0, query);
  return plan.kind === 'empty' ? plan.reason : plan.kind;
};

onBothEngines('a store of cleaned params', (engine) => {
  let perf: PerfStore;
  beforeAll(async () => {
    perf = await PerfStore.open(await engine.table(PERF_SCHEMA));
    const points = ingested.results.map(({ key }) => ({ params: forceValid(key), value: 1 }));
    await perf.writeTraces(1, points, { source: 's', timestampMs: 1 });
  });

  test.each([
    ['test=hello/mean', ['hello_mean']],
    ['test=hello%2Fmean', ['hello_mean']],
    ['test=hello_mean', ['hello_mean']],
    ['test=hello/mean&test=world', ['hello_mean', 'world']],
    ['test=!hello/mean', ['hello_max', 'world']],
    ['test%20kind=a%20b', ['hello_max', 'hello_mean']],
    ['test+kind=*', ['hello_max', 'hello_mean', 'world']],
    ['test+kind=~^a', ['hello_max', 'hello_mean']],
    // A pattern is taken as it stands.
    ['test=~hello/mean', []],
    ['test=nothing', []],
  ])('%s', async (query, expected) => {
    expect(await tests(perf, query)).toEqual(expected);
    expect(await perf.count(0, query)).toBe(expected.length);
  });

  test.each([
    ['test=helo/mean', 'no value of "test" in this tile is one of "helo/mean"; did you mean "hello_mean"?'],
    ['test=HELLO-MEAN', 'no value of "test" in this tile is one of "HELLO-MEAN"; did you mean "hello_mean"?'],
    ['test=~hello/mean', 'no value of "test" in this tile matches "hello/mean"; did you mean "hello_mean"?'],
    ['test=hello', '; did you mean "hello_max", "hello_mean"?'],
    ['tset=world', 'no trace of this tile has the key "tset"; did you mean "test"?'],
    ['Test+Kind=c', '; did you mean "test_kind"?'],
    ['test=entirely-else', 'no value of "test" in this tile is one of "entirely-else"'],
  ])('%s says what is near', async (query, said) => {
    expect(await reason(perf, query)).toSatisfy((text: string) => text.endsWith(said));
  });

  test('the index of one value is found by its name in the file', async () => {
    for await (const traces of perf.indexedTraces(0, 'test kind', 'c')) {
      expect(traces.map(({ params }) => params)).toEqual([{ test: 'world', test_kind: 'c' }]);
    }
  });

  test.each([
    [{ test: 'hello/mean', test_kind: 'a_b' }],
    [{ test: '' }],
    [{ test: 7 as unknown as string }],
    [{}],
    [null as unknown as Params],
  ])('params %j are not an answer, but an error', async (params) => {
    const refused = { code: 'ERR_SPANLINE_INVALID_INPUT' };
    await expect(perf.readTraces(0, [params])).rejects.toMatchObject(refused);
    await expect(perf.source(0, params)).rejects.toMatchObject(refused);
    await expect(perf.readTraces(7, [params])).rejects.toMatchObject(refused);
  });

  test.each([undefined, null, 5, {}])('%j is not a list of params', async (given) => {
    await expect(perf.readTraces(0, given as unknown as Params[])).rejects.toMatchObject({
      code: 'ERR_SPANLINE_INVALID_INPUT',
    });
  });

  test('params that a trace could have, but none has, are left out', async () => {
    expect(await perf.readTraces(0, [{ test: 'other' }, { test: 'world', test_kind: 'c' }])).toHaveLength(1);
    expect(await perf.source(0, { test: 'other' })).toBeUndefined();
  });
});

onLmdb('a store of another rule', (engine) => {
  test('keeps it: for files, for queries, whoever opens it', async () => {
    const table = await engine.table(PERF_SCHEMA);
    await PerfStore.open(table, { rule: cleaningRule('A-Za-z0-9._/-') });
    const perf = await PerfStore.open(table);
    await ingestFile(perf, fileWith(ingested), { measuredMs: 1 });
    expect(await tests(perf, 'test=hello/mean')).toEqual(['hello/mean']);
    expect(await tests(perf, 'test+kind=a+b')).toEqual(['hello/max', 'hello/mean']);
    expect(await tests(perf, 'test=hello_mean')).toEqual([]);
    expect(await reason(perf, 'test=hello_mean')).toContain('did you mean "hello/mean"');
    expect(await perf.readTraces(0, [{ test: 'hello/mean', test_kind: 'a_b' }])).toHaveLength(1);
  });

  test('has a value both as it stands and cleaned: each is itself', async () => {
    const table = await engine.table(PERF_SCHEMA);
    const perf = await PerfStore.open(table, { rule: cleaningRule('A-Za-z0-9._/-') });
    const points = ['a/b', 'a_b'].map((name) => ({ params: { test: name }, value: 1 }));
    await perf.writeTraces(1, points, { source: 's', timestampMs: 1 });
    const plain = await PerfStore.open(table, { rule: cleaningRule('A-Za-z0-9._-') });
    expect(await tests(plain, 'test=a/b')).toEqual(['a/b']);
    expect(await tests(plain, 'test=a_b')).toEqual(['a_b']);
  });
});

describe('hints', () => {
  test('take no time however many names there are', async () => {
    const { didYouMean } = await import('../../src/query/known-query.js');
    const names = Array.from({ length: 500_000 }, (_, i) => `name-${i}`);
    expect(didYouMean('name/17', names)).toContain('"name-17"');
    expect(didYouMean('x'.repeat(1_000_000), names)).toBe('');
    expect(didYouMean('', names)).toBe('');
  });
});
