// One table of exit codes holds for every command (docs/errors.md), and a command that fails leaves nothing that was not there.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Outcome, scratch, spanline } from './support/spanline.js';

const dir = scratch();
const at = (name: string): string => join(dir, name);
const DIGEST = '0cc175b9c0f1b6a831c399e269772661';
const OTHER = '92eb5ffee6ae2fec3ad71c777531578f';

const run = (line: string): Promise<Outcome> =>
  spanline(
    line.split(' ').map((word) => (word.startsWith('@') ? at(word.slice(1)) : word)),
    { cwd: dir },
  );

beforeAll(async () => {
  const entries = [{ params: { name: 'circle', gpu: 'mali' }, digest: DIGEST }];
  const history = (commit: string, value: number) => ({
    version: 1,
    git_hash: commit,
    date: 1_769_860_800_000,
    results: [{ key: { test: 'draw', unit: 'ms' }, measurement: value }],
  });
  writeFileSync(at('broken.json'), '{');
  writeFileSync(at('gold.json'), JSON.stringify({ commit: 1, time: '2026-01-01T00:00:00Z', entries }));
  writeFileSync(
    at('bad-gold.json'),
    JSON.stringify({ commit: 1, entries: [{ params: { name: 'a' }, digest: 'xyz' }] }),
  );
  writeFileSync(at('perf.json'), JSON.stringify(history('c0ffee', 5)));
  writeFileSync(at('keys.txt'), 'a\nb a\n');
  writeFileSync(at('traces.json'), JSON.stringify({ resourceSpans: [] }));
  mkdirSync(at('directory'));
  for (const line of [
    'perf ingest -s @perf @perf.json',
    'perf init -s @no-data',
    'gold put -s @gold @gold.json',
    'graph build -o @keys.graph @keys.txt',
    'trace import -a @traces @traces.json',
  ])
    expect(await run(line), line).toMatchObject({ code: 0 });
});

/** What a command line ends with, and what it says. */
const TABLE: readonly (readonly [code: number, line: string, says: string])[] = [
  // What was asked for is not there.
  [1, 'perf compare -s @perf c0ffee nosuch', 'no commit nosuch'],
  [1, 'perf regressions -s @perf --from nosuch', 'no commit nosuch'],
  [1, 'perf regressions -s @perf -q test=drow', 'did you mean "draw"'],
  [1, 'perf compare -s @perf c0ffee c0ffee -q test=drow', 'did you mean "draw"'],
  [1, 'perf query -s @perf test=draw --from nosuch', 'no commit nosuch'],
  [1, 'perf query -s @perf test=drow', 'did you mean "draw"'],
  [1, 'perf query -s @no-data test=draw', 'no tile yet'],
  [1, 'perf traces list -s @perf test=drow', 'did you mean "draw"'],
  [1, 'perf traces export -s @perf test=drow', 'did you mean "draw"'],
  [1, 'perf traces list-by-index -s @perf test drow', 'no trace with test=drow'],
  [1, 'perf tiles last -s @no-data', 'no tile yet'],
  [1, 'gold ignores delete -s @gold 0123456789abcdef', 'no ignore rule'],
  [1, `gold triage -s @gold cirlce positive ${DIGEST}`, 'did you mean "circle"'],
  [1, `gold triage -s @gold circle positive ${OTHER}`, `never gave the digest ${OTHER}`],
  [1, 'graph get @keys.graph nosuch', 'no node nosuch'],
  [1, 'graph ancestors @keys.graph nosuch', 'no node nosuch'],
  [1, 'trace show -a @traces 4bf9', 'no trace 4bf9'],
  [1, 'trace search -a @traces --service shop', 'no trace meets the conditions'],
  [1, 'trace export -a @traces 4bf92f3577b34da6a3ce929d0e0e4736', ''],
  [1, 'perf config validate @broken.json', 'is not JSON'],
  // Wrong as written.
  [2, 'perf query -s @perf test=~(', 'regular expression'],
  [2, 'perf ingest -s @new @broken.json', 'broken.json'],
  [2, 'gold put -s @new @broken.json', 'broken.json'],
  [2, 'gold put -s @new @bad-gold.json', '/entries/0'],
  [2, 'trace import -a @new @broken.json', 'broken.json'],
  [2, 'gold search', 'which store?'],
  [2, 'nosuch', 'unknown command'],
  // Cannot be read or written.
  [3, 'perf ingest -s @new @nosuch.json', 'does not exist'],
  [3, 'perf ingest -s @new @nosuch.json @broken.json', 'does not exist'],
  [3, 'perf ingest -s @new @directory', 'is a directory'],
  [3, 'perf query --config @nosuch.json test=draw', 'does not exist'],
  [3, 'perf config validate @nosuch.json', 'cannot be read'],
  [3, 'gold put -s @new @nosuch.json', 'cannot be read'],
  [3, 'gold put -s @new @directory', 'cannot be read'],
  [3, 'trace import -a @new @nosuch.json', 'no such file'],
  [3, 'trace import -a @new @directory', 'directory'],
  [3, 'graph build -o @new @nosuch.txt', 'no such file'],
  [3, 'graph info @nosuch.graph', 'nosuch.graph'],
  [3, 'profile top @nosuch.pb.gz', 'cannot be read'],
  [3, 'profile diff @nosuch.pb.gz @nosuch.pb.gz', 'cannot be read'],
  [3, 'profile export @nosuch.pb.gz -o @new --format folded', 'cannot be read'],
  [3, 'perf query -s @new test=draw', 'there is no perf store'],
  [3, `gold triage -s @new circle positive ${DIGEST}`, 'there is no gold store'],
  [3, 'trace ls -a @new', 'there is no archive'],
];

test.each(TABLE)('%i: %s', async (code, line, says) => {
  const outcome = await run(line);
  expect(outcome).toMatchObject({ code, stderr: expect.stringContaining(says) });
  expect(existsSync(at('new'))).toBe(false);
});

describe('a part that is good', () => {
  test('is ingested, and the gravest failure is what the command ends with', async () => {
    expect(await run('perf ingest -s @part @broken.json @perf.json')).toMatchObject({ code: 2 });
    expect(await run('perf ingest -s @part @perf.json @nosuch.json @broken.json')).toMatchObject({ code: 3 });
    expect(await run('perf traces count -s @part')).toMatchObject({ code: 0, stdout: '1\n' });
    expect(await run('trace import -a @part-traces @nosuch.json @traces.json')).toMatchObject({ code: 3 });
    expect(await run('trace ls -a @part-traces')).toMatchObject({ code: 0 });
  });
});

test('a triage that was refused changed nothing; one that was meant so is kept', async () => {
  expect((await run('gold search -s @gold --json')).code).toBe(1);
  expect(await run(`gold triage -s @gold cirlce positive ${DIGEST} --unseen`)).toMatchObject({ code: 0 });
  expect(await run(`gold triage -s @gold circle positive ${DIGEST}`)).toMatchObject({ code: 0 });
  expect((await run('gold search -s @gold')).code).toBe(0);
});
