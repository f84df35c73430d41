// The config file of an instance: what is absent gets its default, what is wrong is named, all of it at once.
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configProblems, readInstanceConfig, STEP_DETECTORS } from '../../src/ingest/config.js';
import { DEFAULT_RULE, forceValid } from '../../src/params/param-text.js';
import { fileWith } from './support/ingest-files.js';

describe('a config file', () => {
  it('needs nothing but a store', async () => {
    const path = fileWith({ store: 'traces' }, 'perf.json');
    expect(await readInstanceConfig(path)).toEqual({
      store: join(dirname(path), 'traces'),
      rule: DEFAULT_RULE,
      directions: new Map(),
      detection: { detector: 'e-divisive' },
    });
  });

  it('sets everything', async () => {
    const path = fileWith({
      $schema: 'https://example.com/schema',
      store: 'bigtable://project/instance/table',
      tileSize: 50,
      shards: 1,
      allowedChars: 'A-Za-z0-9._ /-',
      paramSetKeys: ['suite', 'test'],
      directions: { 'widgets/s': 'up', ns_op: 'down', points: 'unknown' },
      detection: { detector: 'percent', interesting: 0.1, radius: 5, minimumEffect: 0 },
    });
    const { rule, ...config } = await readInstanceConfig(path);
    expect(config).toEqual({
      store: 'bigtable://project/instance/table',
      tileSize: 50,
      shards: 1,
      paramSetKeys: ['suite', 'test'],
      directions: new Map([
        ['widgets/s', 'up'],
        ['ns_op', 'down'],
        ['points', 'unknown'],
      ]),
      detection: { detector: 'percent', interesting: 0.1, radius: 5, minimumEffect: 0 },
    });
    expect(forceValid({ test: 'a b/c,d' }, rule)).toEqual({ test: 'a b/c_d' });
  });

  it('is refused with every problem it has, each on a line', async () => {
    const path = fileWith({
      store: 'bigtable://project/table',
      tileSize: 0,
      shards: '8',
      tilesize: 256,
      allowedChars: 'a-z]|[',
      paramSetKeys: ['a', 'a'],
      directions: { ns: 'downwards' },
      detection: { detector: 'cohen', significance: 0.01, radius: 0 },
    });
    const refused = readInstanceConfig(path);
    await expect(refused).rejects.toMatchObject({ name: 'TraceDbError', code: 'ERR_SPANLINE_INVALID_INPUT' });
    const { message } = (await refused.catch((error) => error)) as Error;
    const [first, ...lines] = message.split('\n');
    expect(first).toBe(`${path}: 10 problems`);
    for (const [at, problem] of [
      'has the unknown property "tilesize"',
      '/tileSize must be >= 1, got 0',
      '/shards must be integer, got "8"',
      '/paramSetKeys must NOT have duplicate items',
      '/directions/ns must be one of "up", "down", "unknown", got "downwards"',
      '/detection/radius must be >= 1, got 0',
      '/store "bigtable://project/table" names no Bigtable table',
      '/allowedChars cleaning rule "a-z]|["',
      '/detection/interesting is needed by cohen',
      '/detection/significance means nothing to cohen; leave it out',
    ].entries()) {
      expect(lines[at]).toContain(`  ${problem}`);
    }
    expect(lines).toHaveLength(10);
  });

  it.each<[string, unknown, string]>([
    ['an array', [], 'must be object, got an empty array'],
    ['no store', {}, 'lacks the property "store"'],
    ['another kind of store', { store: 'gs://bucket/x' }, '/store is not the address of a store'],
    ['a rule that lets a comma through', { store: 's', allowedChars: 'a-z_,' }, '/allowedChars cleaning rule'],
    [
      'a setting of another detector',
      { store: 's', detection: { interesting: 1 } },
      '/detection/interesting means nothing to e-divisive; leave it out',
    ],
    ['an unknown detector', { store: 's', detection: { detector: 'guess' } }, '/detection/detector must be one of'],
    ['an empty unit', { store: 's', directions: { '': 'up' } }, '/directions/ is not a name that may be used here'],
  ])('is refused when it is %s', async (_what, content, reason) => {
    await expect(readInstanceConfig(fileWith(content))).rejects.toThrow(`: 1 problem\n  ${reason}`);
  });

  it.each<[string, string, string]>([
    ['is not JSON', '{"store": "a",\n "x" }', 'is not JSON: line 2, column 6'],
    ['is empty', '', 'is empty'],
    ['is too long', JSON.stringify({ store: 'x'.repeat(1024 * 1024) }), 'is a document of more than 1048576 bytes'],
  ])('is refused when it %s', async (_what, text, reason) => {
    await expect(readInstanceConfig(fileWith(text))).rejects.toThrow(reason);
  });

  it('keeps the list of problems readable', async () => {
    const directions = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`unit${at}`, 'sideways']));
    await expect(readInstanceConfig(fileWith({ store: 's', directions }))).rejects.toThrow(
      /60 problems\n(.*\n)* {2}and 10 more$/,
    );
  });

  it('says nothing of a good document', async () => {
    expect(await configProblems({ store: 'a' })).toEqual([]);
    for (const detector of STEP_DETECTORS) {
      expect(await configProblems({ store: 'a', detection: { detector, interesting: 1 } })).toEqual([]);
    }
  });
});
