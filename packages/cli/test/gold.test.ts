// `spanline gold`, as people run it: from results to what needs triage, its exit codes, and input that must not be guessed at.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { GOLD_SCHEMA, GoldStore, openTable } from '../../tracedb/src/index.js';
import { type Outcome, scratch, spanline } from './support/spanline.js';

const dir = scratch();
const store = join(dir, 'gold');

const RIGHT = '0cc175b9c0f1b6a831c399e269772661';
const WRONG = '92eb5ffee6ae2fec3ad71c777531578f';

const gold = (...args: string[]): Promise<Outcome> => spanline(['gold', ...args, '--store', store]);
const json = <T>({ stdout }: Outcome): T => JSON.parse(stdout) as T;

let files = 0;
const fileWith = (document: unknown): string => {
  const path = join(dir, `results-${++files}.json`);
  writeFileSync(path, JSON.stringify(document));
  return path;
};
const results = (commit: number, digest: string, more: object = {}): string =>
  fileWith({
    commit,
    time: '2026-01-31T12:00:00Z',
    entries: [{ params: { name: 'circle', gpu: 'mali' }, options: { ext: 'png' }, digest }],
    ...more,
  });

beforeAll(async () => {
  expect(await gold('init')).toMatchObject({ code: 0, stderr: '' });
  expect(await gold('put', results(7, RIGHT))).toMatchObject({ code: 0, stdout: 'commit 7: 1 results\n' });
  expect(await gold('put', results(9, WRONG))).toMatchObject({ code: 0, stderr: '' });
});

test('a name in an answer does nothing to a terminal', async () => {
  const { code, stdout } = await gold('triage', 'one\x1b[2J', 'positive', RIGHT, '--unseen');
  expect({ code, stdout }).toEqual({ code: 0, stdout: '1 of 1 digests of one\\x1b[2J changed to positive\n' });
});

test('tile has the commits without data too, dense-tile has not', async () => {
  const lines = ({ stdout }: Outcome) => stdout.split('\n').map((line) => line.split(/ +/).join(' '));
  expect(lines(await gold('tile', '-n', '3'))).toEqual([
    'trace 7 8 9',
    ',gpu=mali,name=circle, 0cc175b9 - 92eb5ffe',
    '1 traces at 3 commits',
    '',
  ]);
  expect(lines(await gold('dense-tile'))[1]).toBe(',gpu=mali,name=circle, 0cc175b9 92eb5ffe');
});

describe('search', () => {
  test('ends with 1 while something found needs a look, on whichever page', async () => {
    expect(await gold('triage', 'circle', 'positive', RIGHT)).toMatchObject({ code: 0 });
    const args = ['search', '--status', 'positive', 'untriaged', '--all', '--limit', '1'];
    const first = await gold(...args, '--json');
    expect(first.code).toBe(1);
    expect(json(first)).toMatchObject({
      total: 2,
      totals: { untriaged: 1, positive: 1, negative: 0 },
      results: [{ digest: RIGHT, status: 'positive' }],
    });
    expect((await gold('search', '--status', 'positive', '--all')).code).toBe(0);
    expect((await gold('blame')).code).toBe(1);
    expect((await gold('blame', '--test', 'circle')).code).toBe(1);
    expect(await gold('blame', '--test', 'cirlce')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('no test "cirlce"; did you mean "circle"?'),
    });
  });

  test('leaves out what a rule ignores', async () => {
    const [rule] = json<{ id: string }[]>(await gold('ignores', 'add', 'gpu=mali', '--expires', '7d', '--json'));
    expect(await gold('search')).toMatchObject({ code: 0, stdout: '0 of 0 digests; 1 traces ignored\n' });
    expect((await gold('ignores', 'delete', rule.id)).code).toBe(0);
    expect((await gold('search')).code).toBe(1);
    expect((await gold('ignores', 'delete', rule.id)).code).toBe(1);
  });
});

describe('wrong usage', () => {
  test.each([null, true, [2026], '7', '2026', 'Jan 31 2026', '2026-01-31T12:00:00', 1.5, 1e300])(
    'results of the time %j',
    async (time) => {
      const before = await gold('tile', '--json');
      const refused = await gold('put', results(7, WRONG, { time }));
      expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('/time must be') });
      expect(await gold('tile', '--json')).toEqual(before);
    },
  );

  test.each(['7', '7y', '2001-01-01', '2100-12-24T18:00', 'soon'])('a rule that expires %s', async (when) => {
    const refused = await gold('ignores', 'add', 'gpu=mali', '--expires', when);
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('write 12h, 7d, 2w') });
    expect((await gold('ignores', 'list')).stdout).toBe('');
  });
});

describe('put', () => {
  test('keeps what a digest is, and which commit it was, for people to read', async () => {
    const place = join(dir, 'read');
    const entries = [{ params: { name: 'a' }, digest: RIGHT, text: 'a circle' }];
    const time = '2026-01-31T12:00:00Z';
    const named = fileWith({ commit: 3, hash: '868f75e4', committed: '2026-01-30T12:00:00Z', time, entries });
    expect(await spanline(['gold', 'put', named, '--store', place])).toMatchObject({ code: 0, stderr: '' });
    const table = await openTable(place, { ...GOLD_SCHEMA, make: false });
    const kept = await GoldStore.open(table);
    expect((await kept.texts([RIGHT, WRONG])).get(RIGHT)).toBe('a circle');
    expect(await kept.commitInfos([3, 4])).toEqual(
      new Map([[3, { hash: '868f75e4', timestampMs: Date.UTC(2026, 0, 30, 12) }]]),
    );
    await table.close();
    for (const [wrong, said] of [
      [{ hash: 7 }, '/hash must be a text'],
      [{ hash: 'a', committed: 'yesterday' }, '/committed must be an ISO 8601 time'],
    ] as const) {
      const refused = await spanline(['gold', 'put', fileWith({ commit: 3, entries, ...wrong }), '--store', place]);
      expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(said) });
    }
  });

  const put = async (entries: readonly object[], ...args: string[]): Promise<Outcome & { readonly file: string }> => {
    const file = fileWith({ commit: 3, time: '2026-01-31T12:00:00Z', entries });
    return { file, ...(await spanline(['gold', 'put', file, '--store', join(dir, 'cleaned'), ...args])) };
  };

  test('cleans params as perf ingest does, by the rule of the store or another one', async () => {
    const entries = [{ params: { name: 'hello/mean', 'the gpu': 'a=b' }, digest: RIGHT }];
    expect(await put(entries)).toMatchObject({ code: 0, stderr: '' });
    const cleaned = ['--store', join(dir, 'cleaned')];
    const tile = await spanline(['gold', 'tile', ...cleaned, '--json']);
    expect(json<{ traces: object[] }>(tile).traces).toMatchObject([{ params: { name: 'hello_mean', the_gpu: 'a_b' } }]);
    const found = await spanline(['gold', 'search', 'name=hello/mean', ...cleaned]);
    expect(found).toMatchObject({ code: 1, stdout: expect.stringContaining('1 of 1 digests') });
    const missed = await spanline(['gold', 'search', 'name=helo_mean', ...cleaned]);
    expect(missed).toMatchObject({ code: 0, stderr: expect.stringContaining('did you mean "hello_mean"?') });
    expect(await put(entries, '--allowed-chars', 'a-z/_ -')).toMatchObject({ code: 0 });
    const config = join(dir, 'config.json');
    writeFileSync(config, JSON.stringify({ store: './unused', allowedChars: 'a-z/_.-' }));
    expect(await put(entries, '--config', config)).toMatchObject({ code: 0 });
    const both = json<{ traces: { params: object }[] }>(await spanline(['gold', 'tile', ...cleaned, '--json']));
    expect(both.traces.map(({ params }) => params)).toEqual(
      expect.arrayContaining([
        { name: 'hello/mean', 'the gpu': 'a_b' },
        { name: 'hello/mean', the_gpu: 'a_b' },
      ]),
    );
  });

  test.each([
    ['a bad digest', [{ params: { name: 'a' }, digest: 'xyz' }], '/entries/0'],
    ['a param that is a number', [{ params: { name: 7 }, digest: RIGHT }], '/entries/0/params'],
    ['bad options', [{ params: { name: 'a' }, options: { a: 1 }, digest: RIGHT }], '/entries/0'],
    [
      'two traces that become one',
      [
        { params: { name: 'a/b' }, digest: RIGHT },
        { params: { name: 'a b' }, digest: WRONG },
      ],
      '/entries/1/params',
    ],
  ])('%s is refused by the name of the file', async (_, entries, place) => {
    const { file, code, stderr } = await put(entries);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`${file}: ${place}`) });
  });
});
