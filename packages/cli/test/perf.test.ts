// `spanline perf`, as people run it: what each command prints, its exit code, and that nothing but the answer is on standard output.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, CommanderError } from 'commander';
import { describe, expect, test } from 'vitest';
import { openTable, PERF_SCHEMA, PerfStore } from '../../tracedb/src/index.js';
import { type CommandError, ExitCode } from '../src/exit-code.js';
import { createProgram } from '../src/program.js';
import { COMMITS, perfStore } from './support/perf-store.js';
import { type Outcome, spanline } from './support/spanline.js';

const { dir, store, file } = perfStore();

const perf = (...args: string[]): Promise<Outcome> => spanline(['perf', ...args, '--store', store]);
const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];

/** What is said to wrong usage, which must have been found before anything was printed. In this process: starting one takes longer. */
const usage = async (...args: string[]): Promise<string> => {
  const program = await createProgram();
  let text = '';
  const writeErr = (part: string) => {
    text += part;
  };
  for (const command of all(program)) command.configureOutput({ writeOut: () => expect.unreachable(), writeErr });
  const error: unknown = await program
    .parseAsync(['node', 'spanline', 'perf', ...args, '--store', store])
    .catch((thrown: unknown) => thrown);
  if (error instanceof CommanderError) return text;
  expect(error).toMatchObject({ name: expect.stringMatching(/^(CommandError|TraceDbError)$/) });
  const { exitCode = ExitCode.usage, code, message } = error as CommandError;
  expect(exitCode).toBe(ExitCode.usage);
  expect(code).toMatch(/^ERR_SPANLINE_(USAGE|INVALID_INPUT)$/);
  return message;
};

const lines = ({ stdout }: Outcome): string[] => stdout.split('\n').slice(0, -1);
const json = <T = unknown>({ stdout }: Outcome): T => JSON.parse(stdout) as T;

describe('init', () => {
  test('makes a store once, and says what it is', async () => {
    const place = join(dir, 'new');
    const made = await spanline(['perf', 'init', '--store', place, '--tile-size', '50']);
    expect(made).toEqual({
      code: 0,
      signal: null,
      stdout: `${place}: tiles of 50 commits in 8 shards\n`,
      stderr: '',
    });
    const again = await spanline(['perf', 'init', '--store', place, '--json']);
    expect(json(again)).toEqual({ store: place, engine: 'lmdb', tileSize: 50, shards: 8 });
    const other = await spanline(['perf', 'init', '--store', place, '--tile-size', '51']);
    expect(other).toMatchObject({ code: 2, stdout: '' });
    expect(other.stderr).toContain('was made with tileSize 50, not 51');
  });

  test('of a file is refused', async () => {
    const place = join(dir, 'file');
    writeFileSync(place, '');
    expect(await spanline(['perf', 'init', '--store', place])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(place),
    });
  });
});

describe('ingest', () => {
  test('writes a file once', async () => {
    const again = await perf('ingest', file);
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(lines(again)[1]).toMatch(/history\.jsonl +already +0 +0$/);
    const forced = await perf('ingest', file, '--force', '--json');
    expect(json(forced)).toEqual([{ file, outcome: 'written', entries: COMMITS, points: 4 * COMMITS }]);
  });

  test('makes a store that is not there, and says so', async () => {
    const place = join(dir, 'by-ingest');
    const made = await spanline(['perf', 'ingest', '--store', place, file]);
    expect(made).toMatchObject({ code: 0, stderr: `spanline: made the store ${place}: tiles of 256 commits\n` });
    expect(lines(made)[1]).toMatch(new RegExp(` +written +${COMMITS} +${4 * COMMITS}$`));
  });

  test('names bad files and writes the good ones', async () => {
    const place = join(dir, 'some-bad');
    const bad = join(dir, 'bad.json');
    writeFileSync(bad, '{"version":1,"git_hash":"a","results":[{"key":{}}]}');
    const result = await spanline(['perf', 'ingest', '-s', place, '/no/such.json', file, bad, '--json']);
    expect(result.code).toBe(3);
    expect(json<{ outcome: string }[]>(result).map(({ outcome }) => outcome)).toEqual(['bad', 'written', 'bad']);
    expect(result.stderr).toContain('spanline: /no/such.json: does not exist\n');
    expect(result.stderr).toMatch(/spanline: .*bad\.json: \/results\/0 /);
  });

  test('takes the commit and the format of a file from the command line', async () => {
    const run = join(dir, 'run.json');
    const machine = { cpu: 'x', platform: 'linux-x64 6', cores: 2 };
    const results = [{ subject: 'spanline', name: 'a', unit: 'ns', min: 1, median: 2, node: '20.1.0' }];
    writeFileSync(run, JSON.stringify({ suite: 's', machine, results }));
    const place = join(dir, 'by-hand');
    const wanted = await spanline(['perf', 'ingest', '-s', place, run]);
    expect(wanted).toMatchObject({ code: 2, stderr: expect.stringContaining('--commit') });
    const args = ['perf', 'ingest', '-s', place, run, '--commit', 'abc', '--format', 'spanline-bench'];
    // The file does not say when it measured, and its own time is not taken without a word.
    const warned = { code: 0, stderr: expect.stringContaining('does not say when it was measured') };
    expect(await spanline(args)).toMatchObject(warned);
    const times = ['--commit-time', '2026-01-02T03:04:05Z', '--measured', '2026-01-03'];
    expect(await spanline([...args, ...times])).toMatchObject({ code: 0, stderr: '' });
    const known = await spanline(['perf', 'commits', '-s', place]);
    expect(known.stdout).toContain('2026-01-02T03:04:05.000Z');
    expect((await spanline(['perf', 'ingest', '-s', place, run, '--format', 'nosuch'])).code).toBe(2);
  });
});

describe('tiles', () => {
  test('last and list', async () => {
    const list = await perf('tiles', 'list');
    expect(lines(list)).toEqual([
      'tile  first commit  last commit  keys  params',
      '   3            48           63     4       9',
      '   2            32           47     4       9',
      '   1            16           31     4       9',
      '   0             0           15     4       9',
    ]);
    expect(lines(await perf('tiles', 'last'))).toEqual(lines(list).slice(0, 2));
    expect(json<{ tile: number }[]>(await perf('tiles', 'list', '--json')).map(({ tile }) => tile)).toEqual([
      3, 2, 1, 0,
    ]);
  });

  test('of an empty store: none to list, no last one', async () => {
    const place = join(dir, 'empty');
    await spanline(['perf', 'init', '--store', place]);
    expect(await spanline(['perf', 'tiles', 'list', '--store', place])).toMatchObject({ code: 0, stdout: '' });
    expect(await spanline(['perf', 'tiles', 'list', '--store', place, '--json'])).toMatchObject({ stdout: '[]\n' });
    const last = await spanline(['perf', 'tiles', 'last', '--store', place]);
    expect(last).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('spanline perf ingest') });
  });
});

describe('traces', () => {
  const DRAW = ',suite=G,test=draw,tool=t,unit=ms,';

  test('count', async () => {
    expect(await perf('traces', 'count')).toMatchObject({ code: 0, stdout: '4\n', stderr: '' });
    expect(await perf('traces', 'count', 'unit=ms', '--tile', '0')).toMatchObject({ stdout: '2\n' });
    expect(json(await perf('traces', 'count', 'unit=ms', '--json'))).toEqual({ tile: 3, query: 'unit=ms', count: 2 });
    expect(await perf('traces', 'count', '--tile', '77')).toMatchObject({ code: 0, stdout: '0\n' });
  });

  test('list', async () => {
    expect(lines(await perf('traces', 'list', 'unit=ms'))).toEqual([DRAW, DRAW.replace('draw', 'fill')]);
    expect(lines(await perf('traces', 'list'))).toHaveLength(4);
    const [first] = lines(await perf('traces', 'list', 'test=draw', '--json'));
    expect(JSON.parse(first as string)).toEqual({
      id: expect.stringMatching(/^,(\d+=\d+,)+$/),
      params: { suite: 'G', test: 'draw', tool: 't', unit: 'ms' },
    });
  });

  test('list-by-index', async () => {
    expect(lines(await perf('traces', 'list-by-index', 'unit', 'ops_sec'))).toEqual([
      ',suite=G,test=speed,tool=t,unit=ops_sec,',
    ]);
    expect(await perf('traces', 'list-by-index', 'unit', 'nosuch')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('its keys are suite, test, tool, unit'),
    });
  });

  test('export gives a program what is there, and a terminal nothing that it would do', async () => {
    // Ingest takes no such hash; a program that writes to a store may.
    const place = join(dir, 'named');
    const table = await openTable(place, PERF_SCHEMA);
    const named = await PerfStore.open(table);
    const [commit] = await named.commits.add([{ hash: 'c\x1b[5m0' }]);
    await named.write([{ commit, source: 's', timestampMs: 1, points: [{ params: { a: 'b' }, value: 1 }] }]);
    await table.close();
    const hashOf = async (isTerminal: boolean) => {
      const csv = lines(await spanline(['perf', 'traces', 'export', '-s', place], { isTerminal }));
      return csv[1].split(',').at(-2);
    };
    expect(await hashOf(false)).toBe('c\x1b[5m0');
    expect(await hashOf(true)).toBe('c\\x1b[5m0');
  });

  test('export', async () => {
    const csv = lines(await perf('traces', 'export', 'test=draw', '--tile', '1'));
    expect(csv.slice(0, 3)).toEqual([
      'key,commit,hash,value',
      `"${DRAW}",16,c16,100.19999694824219`,
      `"${DRAW}",17,c17,100.4000015258789`,
    ]);
    expect(csv).toHaveLength(17);
    const [trace] = lines(await perf('traces', 'export', 'test=draw', '--json'));
    const { params, points } = JSON.parse(trace as string) as { params: object; points: object[] };
    expect(params).toMatchObject({ test: 'draw' });
    expect(points).toHaveLength(COMMITS - 48);
    expect(points[0]).toEqual({ commit: 48, hash: 'c48', value: expect.closeTo(130.1, 4) });
  });

  test('an empty answer says why, and ends with 1 as every search does', async () => {
    const none = await perf('traces', 'list', 'test=nosuch');
    expect(none).toMatchObject({ code: 1, stdout: '' });
    expect(none.stderr).toBe('spanline: tile 3: no value of "test" in this tile is one of "nosuch"\n');
    const crossed = await perf('query', 'test=draw&unit=ops_sec');
    expect(crossed).toMatchObject({ code: 1, stdout: '', stderr: 'spanline: no trace of tile 3 meets the query\n' });
  });
});

describe('a range of commits', () => {
  // Tiles of 16 commits: these cross their ends.
  const commitsOf = (outcome: Outcome): number[] =>
    lines(outcome).flatMap((line) =>
      (JSON.parse(line) as { points: { commit: number }[] }).points.map(({ commit }) => commit),
    );
  const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

  test.each([
    [['--last', '20'], numbers(COMMITS - 20, COMMITS - 1)],
    [['--from', 'c10', '--to', 'c40'], numbers(10, 40)],
    [['--to', 'c40', '--last', '3'], numbers(38, 40)],
    [['--from', 'c05', '--last', '1000'], numbers(5, COMMITS - 1)],
  ])('%j: export and query have its values, one line a trace', async (range, expected) => {
    const exported = await perf('traces', 'export', 'test=draw', '--json', ...range);
    expect(lines(exported)).toHaveLength(1);
    expect(commitsOf(exported)).toEqual(expected);
    const csv = lines(await perf('traces', 'export', 'test=draw', ...range));
    expect(csv.slice(1).map((line) => Number(line.split(',').at(-3)))).toEqual(expected);
    const [found] = lines(await perf('query', 'test=draw', '--json', ...range));
    expect((JSON.parse(found as string) as { values: number[][] }).values.map(([commit]) => commit)).toEqual(expected);
    const [, row, ...more] = lines(await perf('query', 'test=draw', ...range));
    expect(row).toMatch(new RegExp(`^\\S+ +${expected.length} `));
    expect(more).toEqual([]);
  });

  test('by dates needs commits that have one; nothing is said, not guessed', async () => {
    const none = await perf('query', 'test=draw', '--from', '2025-01-01', '--to', '2025-01-31');
    expect(none).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('has no time') });
  });

  test('wrong ones are refused', async () => {
    expect(await usage('query', 'a=b', '--last', '0')).toContain('write a whole number from 1');
    expect(await usage('query', 'a=b', '--from', '2025-13-01')).toContain('write a commit (its hash), a day');
    expect(await usage('query', 'a=b', '--last', '3', '--tile', '1')).toContain('give one kind');
    expect(await usage('traces', 'export', '--from', 'c10', '--tile', '1')).toContain('give one kind');
    expect(await usage('query', 'a=b', '--last', '3', '--explain')).toContain('--explain shows the plan of one tile');
    expect(await usage('query', 'a=b', '--from', 'c40', '--to', 'c10')).toContain('c40 comes after c10');
    expect((await perf('query', 'a=b', '--from', 'nosuch')).stderr).toContain('no commit nosuch');
  });
});

describe('query', () => {
  test('prints a line for each trace, with figures of its values', async () => {
    const [head, ...rows] = lines(await perf('query', 'test=speed', '--tile', '2'));
    expect(head?.split(/ +/)).toEqual(['trace', 'values', 'min', 'median', 'max', 'last']);
    // 8 values of 1000 to 1000.4, 8 of 1500 to 1500.4.
    expect(rows.map((row) => row.split(/ +/))).toEqual([
      [',suite=G,test=speed,tool=t,unit=ops_sec,', '16', '1000', '1250.2', '1500.4', '1500.4'],
    ]);
  });

  test('--json prints an object a line, --limit no more than so many', async () => {
    const all = lines(await perf('query', '', '--json')).map((line) => JSON.parse(line) as { values: unknown[] });
    expect(all).toHaveLength(4);
    expect(all[0]?.values[0]).toEqual([48, expect.any(Number)]);
    expect(lines(await perf('query', '', '--json', '-n', '3'))).toHaveLength(3);
    expect(lines(await perf('query', '', '-n', '1'))).toHaveLength(2);
  });

  test('a query that is none is wrong usage', async () => {
    for (const query of ['test=~(', 'test', 'test=a&=b']) {
      const { code, stdout, stderr } = await perf('query', query);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(/^spanline: /);
      expect(stderr).not.toContain('    at ');
    }
  });
});

describe('commits', () => {
  test('number, hash and time', async () => {
    const all = lines(await perf('commits'));
    expect(all).toHaveLength(COMMITS + 1);
    expect(all.slice(0, 2)).toEqual(['number  commit  time', '     0  c00']);
    expect(json(await perf('commits', '--last', '1', '--json'))).toEqual([{ number: 59, hash: 'c59' }]);
  });
});

describe('indices', () => {
  test('count, write and write-all', async () => {
    expect(lines(await perf('indices', 'count', '--tile', '0'))).toEqual(['tile  index rows', '   0          16']);
    expect(json(await perf('indices', 'write', '--json'))).toEqual([{ tile: 3, rows: 16 }]);
    expect(lines(await perf('indices', 'write-all'))).toEqual([
      'tile  index rows',
      '   3          16',
      '   2          16',
      '   1          16',
      '   0          16',
    ]);
  });
});

describe('config', () => {
  const write = (name: string, content: unknown): string => {
    const path = join(dir, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };

  test('validate names every problem', async () => {
    const good = write('good.json', { store: './store' });
    expect(await spanline(['perf', 'config', 'validate', good])).toMatchObject({ code: 0, stdout: `${good}: good\n` });
    const bad = write('bad-config.json', { store: 'x', tileSize: 0, detection: { detector: 'cohen' } });
    const result = await spanline(['perf', 'config', 'validate', bad]);
    expect(result).toMatchObject({ code: 1, stderr: '' });
    expect(lines(result)).toEqual([
      `${bad}: /tileSize must be >= 1, got 0`,
      `${bad}: /detection/interesting is needed by cohen`,
    ]);
    const asJson = await spanline(['perf', 'config', 'validate', bad, '--json']);
    expect(json(asJson)).toMatchObject({ valid: false, problems: [{ path: '/tileSize' }, {}] });
    expect((await spanline(['perf', 'config', 'validate', write('no.json', '{')])).code).toBe(1);
    expect((await spanline(['perf', 'config', 'validate', join(dir, 'nosuch.json')])).code).toBe(3);
  });

  test('names the store, whatever size its tiles have', async () => {
    const config = write('instance.json', { store: './store' });
    expect(await spanline(['perf', 'traces', 'count', '--config', config])).toMatchObject({ code: 0, stdout: '4\n' });
    const other = write('other-size.json', { store: './store', tileSize: 64 });
    const refused = await spanline(['perf', 'traces', 'count', '--config', other]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('tileSize 16, not 64') });
    for (const tileSize of [1, 10, 64, 8192]) {
      const fresh = write('fresh.json', { store: `./from-config-${tileSize}`, tileSize, shards: 3 });
      const made = await spanline(['perf', 'init', '--config', fresh, '--json']);
      expect(json(made)).toMatchObject({ store: join(dir, `from-config-${tileSize}`), tileSize, shards: 3 });
    }
  });

  test('says what is a regression', async () => {
    const detection = { detector: 'percent', interesting: 0.2, radius: 5, minimumEffect: 0.4 };
    const config = write('detection.json', { store: './store', directions: { points: 'up' }, detection });
    const run = async (...args: string[]) =>
      json<{ found: { kind: string; unit: string }[] }>(
        await spanline(['perf', 'regressions', '--config', config, '--json', ...args]),
      ).found.map(({ kind, unit }) => `${kind} ${unit}`);
    expect(await run()).toEqual(['improvement points', 'improvement ops_sec']);
    expect(await run('--min-effect', '10%')).toEqual(['regression ms', 'improvement points', 'improvement ops_sec']);
    // The size of one detector is none of another.
    const cohen = await spanline(['perf', 'regressions', '--config', config, '--detector', 'cohen']);
    expect(cohen).toMatchObject({ code: 2, stderr: expect.stringContaining('cohen needs --interesting') });
  });
});

describe('compare', () => {
  test('ends with 1 when something is worse', async () => {
    const worse = await perf('compare', 'c10', 'c50');
    expect(worse).toMatchObject({ code: 1, stderr: '' });
    expect(lines(worse).map((line) => line.split(/ {2,}/))).toEqual([
      ['series', 'before', 'after', 'change', 'verdict'],
      [',suite=G,test=score,tool=t,unit=points,', '7', '14', '+100.0 %', 'changed'],
      [',suite=G,test=speed,tool=t,unit=ops_sec,', '1000', '1500', '+50.0 %', 'better'],
      [',suite=G,test=draw,tool=t,unit=ms,', '100', '130', '+30.0 %', 'worse'],
      ['4 series at both commits, 3 shown, 1 worse'],
    ]);
  });

  test('ends with 0 when nothing is', async () => {
    expect(await perf('compare', 'c50', 'c10', '--query', 'test=draw')).toMatchObject({ code: 0 });
    const same = await perf('compare', 'c10', 'c15', '--json');
    expect(same.code).toBe(0);
    expect(json(same)).toEqual({
      before: { hash: 'c10', number: 10 },
      after: { hash: 'c15', number: 15 },
      compared: 4,
      worse: 0,
      series: [],
    });
    expect(lines(await perf('compare', 'c10', 'c15', '--all'))).toHaveLength(6);
    expect(await perf('compare', 'c10', 'c50', '--min-effect', '31%')).toMatchObject({ code: 0 });
  });

  test('of a commit that is not there, or of several', async () => {
    expect(await perf('compare', 'c10', 'x')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no commit x'),
    });
    expect(await perf('compare', 'c1', 'c50')).toMatchObject({ code: 2, stderr: expect.stringContaining('several') });
  });
});

describe('regressions', () => {
  const found = (outcome: Outcome): string[] =>
    json<{ found: { kind: string; commit: { hash: string }; key: string }[] }>(outcome).found.map(
      ({ kind, commit, key }) => `${kind} ${commit.hash} ${/test=(\w+)/.exec(key)?.[1]}`,
    );

  test('by E-divisive', async () => {
    const result = await perf('regressions');
    expect(result).toMatchObject({ code: 1, stderr: '' });
    const [head, first, ...rest] = lines(result);
    expect(head?.split(/ +/)).toEqual(['kind', 'commit', 'date', 'change', 'before', 'after', 'p-value', 'series']);
    expect(first).toMatch(/^regression +c20 +\+29\.9 % .*e-\d+ +,suite=G,test=draw/);
    expect(rest.at(-1)).toBe('4 series, 3 changes, 1 regressions');
    expect(found(await perf('regressions', '--json'))).toEqual([
      'regression c20 draw',
      'changed c40 score',
      'improvement c40 speed',
    ]);
  });

  test.each([
    ['original', '50'],
    ['absolute', '20'],
    ['percent', '0.2'],
    ['cohen', '20'],
    ['mann-whitney', '0.0005'],
  ])('by %s', async (detector, interesting) => {
    const args = ['--detector', detector, '--interesting', interesting, '--query', 'unit=ms'];
    const result = await perf('regressions', ...args, '--json');
    expect(result.code).toBe(1);
    expect(found(result)).toEqual(['regression c20 draw']);
  });

  test('by const: the value that reaches a limit', async () => {
    const result = await perf(
      'regressions',
      '--detector',
      'const',
      '--interesting',
      '130',
      '-q',
      'test=draw',
      '--json',
    );
    expect(result.code).toBe(1);
    expect(found(result).length).toBeGreaterThan(0);
  });

  test('a range without commits is wrong usage, not the absence of regressions', async () => {
    expect(await usage('regressions', '--from', 'c20', '--to', 'c19')).toContain('name the older one first');
  });

  test('none is 0', async () => {
    expect(await perf('regressions', '-q', 'test=fill')).toMatchObject({
      code: 0,
      stdout: '1 series, 0 changes, 0 regressions\n',
    });
    expect(await perf('regressions', '--from', 'c25')).toMatchObject({ code: 0 });
    expect(await perf('regressions', '--to', 'c15')).toMatchObject({ code: 0 });
    expect(found(await perf('regressions', '--only', 'improvement', '--json'))).toEqual(['improvement c40 speed']);
  });

  test('--plot draws the largest change', async () => {
    const { stdout } = await perf('regressions', '--plot', '-q', 'unit=ms');
    expect(stdout).toMatch(/\n\n,suite=G,test=draw,tool=t,unit=ms,\n +130.*[┤┼]/);
    expect(stdout).toContain(`${COMMITS} values, c00 to c59`);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(110);
  });

  test.each([
    [['--detector', 'cohen'], 'cohen needs --interesting'],
    [['--interesting', '3'], '--interesting means nothing to e-divisive'],
    [['--radius', '3'], '--radius means nothing to e-divisive'],
    [['--detector', 'percent', '--interesting', '0.1', '--false-positive-rate', '1%'], 'means nothing to percent'],
    [['--false-positive-rate', '0'], 'falsePositiveRate'],
    [['--detector', 'nosuch'], 'Allowed choices'],
    [['--min-effect', 'much'], 'write a share'],
    [['--radius', '0'], 'write a whole number from 1'],
  ])('%j is wrong usage', async (args, message) => {
    expect(await usage('regressions', ...args)).toContain(message);
  });
});

const program = await createProgram();

describe('every command', () => {
  const commands = all(program.commands.find((command) => command.name() === 'perf') as Command);
  const path = (command: Command): string =>
    command.parent === null ? command.name() : `${path(command.parent)} ${command.name()}`;

  test.each(commands.map((command) => [path(command), command] as const))(
    '%s has help with an example',
    (name, command) => {
      let text = '';
      command.configureOutput({
        writeOut: (part) => {
          text += part;
        },
      });
      command.outputHelp();
      expect(text).toContain(`Usage: ${name} `);
      expect(text).toMatch(/\nExamples:\n {2}\$ spanline /);
    },
  );

  test('says which store it wants, and does not make the one it was told by mistake', async () => {
    const nosuch = join(dir, 'nosuch');
    for (const [args, code, message] of [
      [['traces', 'list'], 2, 'which store? Give --store DIR'],
      [['traces', 'list', '-s', nosuch], 3, `make one with: spanline perf init --store ${nosuch}`],
      [['indices', 'write-all', '-s', nosuch], 3, nosuch],
      [['regressions', '-s', nosuch], 3, nosuch],
    ] as const) {
      const outcome = await spanline(['perf', ...args]);
      expect(outcome).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) });
      expect(existsSync(nosuch)).toBe(false);
    }
    // A directory that is not a store does not become one either.
    const plain = join(dir, 'plain');
    mkdirSync(plain);
    expect((await spanline(['perf', 'tiles', 'list', '-s', plain])).code).toBe(3);
    expect(existsSync(join(plain, 'data.mdb'))).toBe(false);
  });

  test('does not take a store of another kind for one that is empty, nor make one of it', async () => {
    const gold = join(dir, 'gold');
    expect((await spanline(['gold', 'init', '-s', gold])).code).toBe(0);
    const wrong = await spanline(['perf', 'tiles', 'list', '-s', gold]);
    expect(wrong).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('there is no perf store in') });
    const search = await spanline(['gold', 'search', '-s', store]);
    expect(search).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('there is no gold store in') });
  });

  test('finds its store in the environment', async () => {
    const found = await spanline(['perf', 'traces', 'count'], { env: { SPANLINE_PERF_STORE: store } });
    expect(found).toMatchObject({ code: 0, stdout: '4\n' });
  });

  test.each([
    [['traces', 'count', '--tile', '-1'], 'write a whole number from 0'],
    [['traces', 'count', '--tile', 'x'], 'write a whole number from 0'],
    [['traces', 'count', '--deadline', '0'], 'write a whole number from 1'],
    [['query', 'a=b', '-n', '0'], 'write a whole number from 1'],
    [['query', 'a=b', '--otlp', 'http://localhost'], '--otlp sends the trace of --explain'],
    [['init', '--tile-size', '8193'], 'from 1 to 8192'],
    [['init', '--shards', '65'], 'from 1 to 64'],
    [['query'], "missing required argument 'query'"],
    [['ingest'], "missing required argument 'file'"],
    [['tiles', 'nosuch'], "unknown command 'nosuch'"],
    [['query', 'a=b', '--nosuch'], "unknown option '--nosuch'"],
  ])('%j is wrong usage', async (args, message) => {
    expect(await usage(...args)).toContain(message);
  });

  test('has no colours and no progress in a pipe', async () => {
    for (const [name, ...args] of [
      ['FORCE_COLOR', 'ingest', file, '--force'],
      ['FORCE_COLOR', 'indices', 'write-all'],
      ['NO_COLOR', 'regressions', '--plot'],
    ] as const) {
      const { stdout, stderr } = await spanline(['perf', ...args, '-s', store], { env: { [name]: '1' } });
      expect(stdout).not.toContain('\x1b');
      expect(stderr).toBe('');
    }
  });
});
