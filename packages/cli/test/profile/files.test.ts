// The commands on profile files print tables and JSON, end with the exit codes they name, and write whole files.
import { existsSync, lstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { toCpuProfile } from '../../../profile/src/output/cpuprofile.js';
import { toPprof } from '../../../profile/src/output/pprof.js';
import { readProfile } from '../../../profile/src/output/read-profile.js';
import { hostile, sampled, shop, summary } from '../../../profile/test/support/sampled.js';
import { scratch, spanline } from '../support/spanline.js';

const dir = scratch();
const at = (name: string): string => join(dir, name);

const grown = sampled([
  { stack: ['main', 'serve'], labels: { query: 'q1' }, samples: 300 },
  { stack: ['main', 'serve'], labels: { query: 'q2' }, samples: 700 },
]);

beforeAll(async () => {
  writeFileSync(at('shop.pb.gz'), await toPprof(shop()));
  writeFileSync(at('grown.pb.gz'), await toPprof(grown));
  writeFileSync(at('hostile.pb.gz'), await toPprof(hostile()));
  writeFileSync(at('shop.cpuprofile'), JSON.stringify(toCpuProfile(shop())));
  writeFileSync(at('broken.pb.gz'), 'this is not a profile');
});

const profile = (...args: string[]) => spanline(['profile', ...args]);

describe('top', () => {
  test('a table by a label key', async () => {
    const { code, stdout, stderr } = await profile('top', at('shop.pb.gz'), '--by', 'query');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n').map((line) => line.replace(/\s+/g, ' ').trim())).toEqual([
      'rank query share 95 % interval cpu error samples',
      '1 q1 62.5 % 59.4 % - 65.5 % 600 ms ± 24.5 ms 600',
      '2 q2 21.9 % 19.4 % - 24.6 % 210 ms ± 14.5 ms 210',
      '3 (none) 15.6 % 13.5 % - 18.1 % 150 ms ± 12.2 ms 150',
      '960 ms of CPU time (measured) in 960 samples over 1300 ms; garbage collection 40 ms',
      '',
    ]);
  });

  test('ASCII where the locale knows no other', async () => {
    const { stdout } = await spanline(['profile', 'top', at('shop.pb.gz'), '--by', 'query'], { env: { LC_ALL: 'C' } });
    expect(stdout).toMatch(/ 600 ms {2}\+- 24\.5 ms /);
    expect(stdout).toMatch(/^[\0-\x7f]*$/);
  });

  test('a profile of other time says what it is; a type that it has not is wrong usage', async () => {
    writeFileSync(at('wall.pb.gz'), await toPprof({ ...shop(), measure: 'wall' }));
    const { stdout } = await profile('top', at('wall.pb.gz'), '--sample-type', 'wall');
    expect(stdout).toMatch(/^rank +label +share +95 % interval +wall +error/);
    expect(stdout).toContain('960 ms of wall, no CPU time, (measured) in 960 samples');
    for (const command of [['top'], ['export', '--format', 'folded'], ['diff', at('shop.pb.gz')]]) {
      const { code, stderr } = await profile(...command, at('wall.pb.gz'), '--sample-type', 'cpu');
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('it has wall') });
    }
    expect((await profile('diff', at('shop.pb.gz'), at('wall.pb.gz'))).code).toBe(2);
  });

  test('JSON of the same, from either format', async () => {
    const [a, b] = await Promise.all(
      ['shop.pb.gz', 'shop.cpuprofile'].map(async (name) => {
        const { stdout } = await profile('top', at(name), '--by', 'query', '--json');
        return JSON.parse(stdout) as { rows: { value: string; share: number }[]; keys: string[] };
      }),
    );
    expect(a.keys).toEqual(['query', 'rows', 'tenant']);
    expect(a.rows.map(({ value, share }) => [value, share])).toEqual([
      ['q1', 0.625],
      ['q2', 0.21875],
      ['', 0.15625],
    ]);
    expect(b.rows).toEqual(a.rows);
  });

  test('a key that no sample has: what there is instead', async () => {
    const { code, stderr } = await profile('top', at('shop.pb.gz'), '--by', 'queries');
    expect(code).toBe(0);
    expect(stderr).toBe('spanline: no sample has the label queries; there are: query, rows, tenant\n');
  });

  test('hostile labels steer no terminal and break no line', async () => {
    const { code, stdout } = await profile('top', at('hostile.pb.gz'), '--by', 'query', '--limit', '100');
    expect(code).toBe(0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(stdout.trimEnd().split('\n')).toHaveLength(24);
    expect(stdout.length).toBeLessThan(20_000);
  });
});

describe('diff', () => {
  test('labels that take more end with 1', async () => {
    const { code, stdout } = await profile('diff', at('shop.pb.gz'), at('grown.pb.gz'), '--by', 'query');
    expect(code).toBe(1);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^query +before +after +points +95 % interval +p +verdict$/);
    expect(lines[1]).toMatch(/^q2 +21\.9 % +70\.0 % +\+48\.1 +\+44\.\d to \+51\.\d +\S+ +more$/);
    expect(lines.at(-1)).toBe('3 labels, 3 shown, 1 take more');
  });

  test('the same profile twice ends with 0 and shows nothing', async () => {
    const same = await profile('diff', at('shop.pb.gz'), at('shop.cpuprofile'), '--by', 'query', '--json');
    expect(same.code).toBe(0);
    expect(JSON.parse(same.stdout)).toEqual({ by: 'query', labels: 3, more: 0, changes: [] });
  });
});

describe('export', () => {
  test.each(['pprof', 'cpuprofile', 'folded'] as const)('%s says the same', async (format) => {
    const out = at(`out.${format}`);
    expect(await profile('export', at('shop.cpuprofile'), '--format', format, '--out', out)).toMatchObject({
      code: 0,
      stdout: '',
      stderr: '',
    });
    const again = summary(await readProfile(readFileSync(out)));
    const cpu = (sums: ReturnType<typeof summary>): number[] =>
      Object.values(sums)
        .map(({ cpuNs }) => cpuNs)
        .sort((a, b) => a - b);
    expect(cpu(again)).toEqual(cpu(summary(shop())));
    expect(readdirSync(dir).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('to standard output, by label, with some keys or none', async () => {
    const speedscope = await profile('export', at('shop.pb.gz'), '--format', 'speedscope', '--by', 'query');
    const { profiles } = JSON.parse(speedscope.stdout) as { profiles: { name: string }[] };
    expect(profiles.map(({ name }) => name)).toEqual(['all labels', 'q1', 'q2', 'no label']);
    const kept = await profile('export', at('shop.pb.gz'), '--format', 'folded', '--keep', 'tenant');
    expect(kept.stdout).toMatch(/^\[tenant=a\];main/m);
    expect(kept.stdout).not.toContain('query');
    const none = await profile('export', at('shop.pb.gz'), '--format', 'folded', '--no-labels');
    expect(none.stdout).not.toContain('[');
  });
});

describe('exit codes', () => {
  test.each<[number, string[]]>([
    [2, ['top']],
    [2, ['export', at('shop.pb.gz')]],
    [2, ['export', at('shop.pb.gz'), '--format', 'svg']],
    [2, ['top', at('shop.pb.gz'), '--limit', '0']],
    [2, ['run', '--continuous', '--toggle', '--', 'node', '-v']],
    [2, ['run', '--every', '0.01', '--', 'node', '-v']],
    [2, ['run', '--rotate', '0.01', '--continuous', '--', 'node', '-v']],
    [2, ['attach', 'me']],
    [2, ['attach', '1', '--every', '2000']],
    [3, ['top', at('nowhere')]],
    [3, ['top', at('broken.pb.gz')]],
    [3, ['diff', at('shop.pb.gz'), at('broken.pb.gz')]],
    [3, ['export', at('shop.pb.gz'), '--format', 'folded', '--out', at('no/such/dir/x')]],
    [0, ['--help']],
    [0, ['run', '--help']],
  ])('%i: %j', async (code, args) => {
    const outcome = await profile(...args);
    expect(outcome.code).toBe(code);
    if (code !== 0) expect(outcome.stderr).not.toContain('    at ');
  });

  test('a file that is not a profile is named', async () => {
    const { stderr } = await profile('top', at('broken.pb.gz'));
    expect(stderr).toContain(at('broken.pb.gz'));
    expect(stderr).toContain('cannot be read');
  });
});

describe('where files are written', () => {
  const exported = (out: string) => profile('export', at('shop.pb.gz'), '--format', 'folded', '--out', out);

  test('what a link points to is replaced, and the link stays one', async () => {
    writeFileSync(at('target.folded'), 'old');
    symlinkSync(at('target.folded'), at('link.folded'));
    expect((await exported(at('link.folded'))).code).toBe(0);
    expect(lstatSync(at('link.folded')).isSymbolicLink()).toBe(true);
    expect(readFileSync(at('target.folded'), 'utf8')).toContain('[query=q1];');
  });

  test.runIf(existsSync('/dev/full'))('a full device is an error, and stays a device', async () => {
    expect(await exported('/dev/full')).toMatchObject({ code: 3, stderr: expect.stringContaining('ENOSPC') });
    expect(lstatSync('/dev/full').isCharacterDevice()).toBe(true);
  });

  test('a directory is an error, and the temporary file of a dead process is none', async () => {
    expect(await exported(dir)).toMatchObject({ code: 3, stderr: expect.stringContaining('cannot be written') });
    expect(readdirSync(join(dir, '..')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});

test('what is said of keys on standard error steers no terminal', async () => {
  const { code, stderr } = await profile('top', at('hostile.pb.gz'), '--by', 'no\u001b[31m\u202esuch');
  expect(code).toBe(0);
  expect(stderr).toContain('there are: ');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
  expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  expect(stderr.length).toBeLessThan(4000);
});
