// `spanline graph`, as people run it: what each command prints, its exit code, and that nothing but the answer is on standard output.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import zlib, { gzipSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { writeSegment } from '../../archive/src/index.js';
import { unsortedBytes } from '../../archive/test/segment/support/unsorted-bytes.js';
import { spanAt } from '../../archive/test/support/traces.js';
import { CompactGraph, CompactGraphBuilder, GraphIndexBuilder } from '../../graph/src/index.js';
import { type Outcome, type RunOptions, scratch, spanline } from './support/spanline.js';

const dir = scratch();
const path = (name: string): string => join(dir, name);
const graph = (args: readonly string[], options?: RunOptions): Promise<Outcome> =>
  spanline(['graph', ...args], options);
const lines = ({ stdout }: Outcome): string[] => stdout.split('\n').slice(0, -1);

const HISTORY = '# oldest first\nfirst\n\nsecond first\nthird second elsewhere\r\nmerge third\tsecond\n';

beforeAll(async () => {
  writeFileSync(path('history.txt'), HISTORY);
  await graph(['build', path('history.txt'), '-o', path('history.graph')]);
});

describe('build', () => {
  test('of a file of lines, and says what was built', async () => {
    const built = await graph(['build', path('history.txt'), '-o', path('built.graph')]);
    expect(built).toMatchObject({ code: 0, stderr: '' });
    expect(lines(built)).toHaveLength(2);
    expect(lines(built)[1].split(/ {2,}/).slice(1, 4)).toEqual(['4', '1', '5']);
  });

  test('of standard input, gzip or not, in any order, gives the same bytes', async () => {
    const built = await graph(['build', '-', '-o', path('piped.graph'), '--json'], {
      stdin: gzipSync(HISTORY.split('\n').reverse().join('\n')),
    });
    expect(built).toMatchObject({ code: 0, stderr: '' });
    const bytes = readFileSync(path('piped.graph'));
    expect(JSON.parse(built.stdout)).toEqual({
      file: path('piped.graph'),
      nodes: 4,
      absent: 1,
      references: 5,
      bytes: bytes.length,
      spilledBytes: 0,
    });
    expect(bytes).toEqual(readFileSync(path('history.graph')));
  });

  test.each([
    ['zstd', '28b52ffd2403190000610a620a'],
    ['xz', 'fd377a585a000004e6d6b4460200'],
    ['bzip2', '425a683931415926535900000000'],
    ['lz4', '04224d1864407f00000000000000'],
    ['zip', '504b030414000000080000000000'],
  ])('never takes bytes compressed with %s for keys', async (name, bytes) => {
    const built = await graph(['build', '-', '-o', path('compressed.graph')], { stdin: Buffer.from(bytes, 'hex') });
    // A Node that can inflate zstd finds it cut off.
    expect(built.code).toBeGreaterThan(1);
    expect(built.stderr).toMatch(
      name === 'zstd'
        ? /zstd|damaged/
        : new RegExp(`compressed with ${name}, .*${name === 'zip' ? 'unzip -p' : `${name} -dc`}`),
    );
    expect(readdirSync(dir)).not.toContain('compressed.graph');
  });

  test.skipIf(!('zstdCompressSync' in zlib))('of lines compressed with zstd', async () => {
    const { zstdCompressSync } = zlib as unknown as { zstdCompressSync(text: string): Buffer };
    const built = await graph(['build', '-', '-o', path('zstd.graph')], { stdin: zstdCompressSync(HISTORY) });
    expect(built).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(path('zstd.graph'))).toEqual(readFileSync(path('history.graph')));
  });

  test('of keys that are not UTF-8 keeps them apart', async () => {
    const stdin = Buffer.from('d\xe9but fa\xe7ade\nd\xe8s fa\xe8te\n', 'latin1');
    const built = await graph(['build', '-', '-o', path('latin1.graph'), '--json'], { stdin });
    expect(JSON.parse(built.stdout)).toMatchObject({ nodes: 2, absent: 2, references: 2 });
    expect(lines(await graph(['get', path('latin1.graph'), '0x64e9627574']))).toEqual([
      '0x64e9627574  node 1',
      '  references 0x6661e7616465',
    ]);
  });

  test('of a file that begins with a byte order mark', async () => {
    const stdin = Buffer.from(`\ufeff${HISTORY}`);
    expect(await graph(['build', '-', '-o', path('marked.graph')], { stdin })).toMatchObject({ code: 0 });
    expect(readFileSync(path('marked.graph'))).toEqual(readFileSync(path('history.graph')));
  });

  test('of nothing is a graph without nodes', async () => {
    const built = await graph(['build', '-', '-o', path('empty.graph')], { stdin: Buffer.alloc(0) });
    expect(built).toMatchObject({ code: 0, stderr: '' });
    expect(await graph(['verify', path('empty.graph')])).toMatchObject({ code: 0 });
    expect(await graph(['get', path('empty.graph'), 'a'])).toMatchObject({ code: 1, stdout: '' });
  });

  test.each([
    ['a key twice', [], 'one\nb\none\n', 'line 3: the key one comes twice'],
    ['a hexadecimal key twice', ['--hex'], '0a\n0A\n', 'line 2: the key 0a comes twice'],
    ['a key that is not hexadecimal', ['--hex'], '00ff\n0g\n', 'line 2: "0g" is not a key'],
    ['a key too long', [], `a\n${'x'.repeat(5000)}\n`, 'line 2: '],
    ['a cycle', [], 'one two\ntwo one\n', /circle: (one -> two -> one|two -> one -> two); --cycles allow/],
    ['too little memory', ['--memory', '1'], 'a\n', '--memory'],
    ['an order that is none', ['--order', 'upwards'], 'a\n', '--order'],
    ['two inputs', ['--from-git', '.'], 'a\n', 'not both'],
  ])('refuses %s, and leaves no file behind', async (_, options, input, message) => {
    const refused = await graph(['build', '-', '-o', path('refused.graph'), ...options], { stdin: Buffer.from(input) });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toEqual(
      typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
    );
    expect(readdirSync(dir).filter((name) => name.includes('refused'))).toEqual([]);
  });

  test('a key twice that is found at the end only is named as the input has it', async () => {
    const keys = Array.from({ length: 60_000 }, (_, i) => `the node number ${i}`.replaceAll(' ', '-').padEnd(60, 'x'));
    writeFileSync(path('twice.txt'), [...keys, keys[3]].join('\n'));
    const refused = await graph(['build', path('twice.txt'), '-o', path('refused.graph'), '--memory', '4']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(`the key ${keys[3]} comes twice`);
    expect(refused.stderr).not.toContain('line ');
  });

  test('takes a cycle when it may', async () => {
    const built = await graph(['build', '-', '-o', path('round.graph'), '--cycles', 'allow'], {
      stdin: Buffer.from('a b\nb a'),
    });
    expect(built).toMatchObject({ code: 0 });
    expect(lines(await graph(['ancestors', path('round.graph'), 'b'])).sort()).toEqual(['a', 'b']);
  });

  test('needs an input and an output', async () => {
    expect(await graph(['build', path('history.txt')])).toMatchObject({ code: 2, stdout: '' });
    expect(await graph(['build', '-o', path('refused.graph')])).toMatchObject({ code: 2, stdout: '' });
  });

  test('says which file fails', async () => {
    const missing = await graph(['build', path('no-such.txt'), '-o', path('refused.graph')]);
    expect(missing).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('no-such.txt') });
    const target = await graph(['build', path('history.txt'), '-o', path('no-such/refused.graph')]);
    expect(target).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('no-such') });
    const cut = gzipSync(HISTORY.repeat(100)).subarray(0, 60);
    const damaged = await graph(['build', '-', '-o', path('refused.graph')], { stdin: cut });
    expect(damaged).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('standard input is damaged gzip'),
    });
  });
});

describe('info, get and ancestors', () => {
  test('of a file with names', async () => {
    const file = path('history.graph');
    const info = await graph(['info', file]);
    expect(info).toMatchObject({ code: 0, stderr: '' });
    expect(info.stdout).toContain('5 keys\nkeys: text\n');
    expect(info.stdout).toMatch(/child-first +references, keys\n/);
    expect(JSON.parse((await graph(['info', file, '--json'])).stdout)).toMatchObject({
      keyCount: 5,
      notes: { keys: 'text' },
      graphs: [{ nodeCount: 4, ghostCount: 1, edgeCount: 5, hasValues: false }],
    });
    expect(lines(await graph(['get', file, 'third', 'elsewhere']))).toEqual([
      'third  node 1',
      '  references second elsewhere',
      'elsewhere  absent, but referred to',
    ]);
    const ancestors = await graph(['ancestors', file, 'merge']);
    expect(lines(ancestors)).toEqual(['merge', 'third', 'second', 'first']);
    expect(ancestors).toMatchObject({ code: 0, stderr: expect.stringContaining('1 more are referred to and absent') });
    expect((await graph(['ancestors', file, 'second', '--count'])).stdout).toBe('2\n');
    const json = lines(await graph(['ancestors', file, 'merge', '--json'])).map((line) => JSON.parse(line) as unknown);
    expect(json).toHaveLength(5);
    expect(json[4]).toEqual({ key: 'elsewhere', ordinal: 4, isAbsent: true });
    expect(lines(await graph(['ancestors', file, 'merge', '--limit', '2']))).toEqual(['merge', 'third']);
  });

  test('what a file notes, and its own name, do nothing to a terminal and begin no line', async () => {
    const file = path('named \x1b[31m.graph');
    const notes = { made: 'by\x1b]0;title\x07\rme\nkeys: 7' };
    const graphs = [{ referenceLists: 1, order: 'child-first' as const, cycles: 'refuse' as const }];
    const builder = new CompactGraphBuilder(file, { graphs, notes });
    await builder.add(0, Buffer.from('one'), undefined, [[]]);
    await builder.finish();
    const info = lines(await graph(['info', file]));
    expect(info[0]).toMatch(/named \\x1b\[31m\.graph: \d+ bytes, 1 keys$/);
    expect(info[1]).toBe('made: by\\x1b]0;title\\x07\\rme\\nkeys: 7');
    expect((await graph(['verify', file])).stdout).toMatch(/named \\x1b\[31m\.graph: .* undamaged\n$/);
    expect(JSON.parse((await graph(['info', file, '--json'])).stdout)).toMatchObject({ file, notes });
  });

  test('of what is not there', async () => {
    const file = path('history.graph');
    const some = await graph(['get', file, 'first', 'nobody', '--json']);
    expect(some).toMatchObject({ code: 1, stderr: 'spanline: graph 0 has no node nobody\n' });
    expect(JSON.parse(some.stdout)).toEqual({ key: 'first', ordinal: 3, isAbsent: false, references: [[]] });
    expect(await graph(['ancestors', file, 'nobody'])).toMatchObject({ code: 1, stdout: '' });
    expect(await graph(['get', file, 'first', '--graph', '7'])).toMatchObject({ code: 2, stdout: '' });
    expect(await graph(['ancestors', file, 'first', '--list', '1'])).toMatchObject({ code: 2, stdout: '' });
    expect(await graph(['info', path('no-such.graph')])).toMatchObject({ code: 3, stdout: '' });
    expect(await graph(['info', path('history.txt')])).toMatchObject({ code: 3, stdout: '' });
  });

  test('keys of several elements, and values', async () => {
    const builder = new GraphIndexBuilder(path('tuples.graph'), { referenceLists: 1, keyElements: 2 });
    builder.addNode(['file', '0x1f'], Buffer.from([1, 2]), [[]]);
    builder.addNode(['file', 'b'], Buffer.from('text'), [[['file', '0x1f']]]);
    await builder.finish();
    expect(lines(await graph(['get', path('tuples.graph'), 'file\\0b', 'file\\00x1f']))).toEqual([
      'file\\0b  node 0',
      '  value text',
      '  references file\\00x1f',
      'file\\00x1f  node 1',
      '  value 0x0102',
      '  references none',
    ]);
  });
});

test('digits that several keys begin with', async () => {
  await graph(['build', '-', '--hex', '-o', path('hex.graph')], {
    stdin: Buffer.from('abcd01\nabcd02 abcd01\nabc0\n'),
  });
  expect(await graph(['get', path('hex.graph'), 'abcd0'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('abcd01, abcd02'),
  });
  expect(lines(await graph(['get', path('hex.graph'), 'ABCD02', 'abc0']))[1]).toBe('  references abcd01');
});

describe.each(['a segment', 'an unsorted segment'])('verify of %s of an archive', (form) => {
  const segment = path(`${form}.spans`);
  const spans = Array.from({ length: 2000 }, (_, i) =>
    spanAt(i + 1, i, `name ${i % 50}`, i * 1000, 500, { properties: { n: i, text: `text ${i}` } }),
  );

  beforeEach(async () => {
    if (form === 'a segment') writeSegment(segment, spans);
    else writeFileSync(segment, await unsortedBytes(spans, 500));
  });

  test('that is sound', async () => {
    expect(await graph(['verify', segment])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/ undamaged\n$/),
      stderr: '',
    });
  });

  test('with one bit of any place changed: damaged, whichever section it is in', async () => {
    const whole = readFileSync(segment);
    const flipped = path('flipped.spans');
    for (let i = 0; i < 12; i++) {
      const bytes = Buffer.from(whole);
      bytes[Math.floor(((i + 0.5) * whole.length) / 12)] ^= 1 << (i % 8);
      writeFileSync(flipped, bytes);
      const { code, stdout, stderr } = await graph(['verify', flipped, '--json']);
      // A file whose ends cannot be read is none: nothing can be said of its parts.
      expect([1, 3]).toContain(code);
      if (stdout === '') expect(stderr).toContain(flipped);
      else expect(JSON.parse(stdout)).toMatchObject({ isUndamaged: false });
    }
  });
});

describe('verify and salvage', () => {
  const damaged = path('damaged.graph');

  test('of an undamaged file', async () => {
    expect(await graph(['verify', path('history.graph')])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('5 keys, undamaged\n'),
    });
    const copy = await graph(['salvage', path('history.graph'), '-o', path('copy.graph')]);
    expect(copy).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(path('copy.graph'))).toEqual(readFileSync(path('history.graph')));
  });

  test('of a damaged one: what is lost is said, what is left is written', async () => {
    const count = 2000;
    const history = Array.from({ length: count }, (_, i) => `node-${i} ${i === 0 ? '' : `node-${i - 1}`}\n`).join('');
    await graph(['build', '-', '-o', damaged], { stdin: Buffer.from(history) });
    const file = await CompactGraph.open(damaged);
    const { offset } = file.container.need(10, 0);
    await file.close();
    const bytes = readFileSync(damaged);
    bytes[offset + 1] ^= 1;
    writeFileSync(damaged, bytes);

    const verified = await graph(['verify', damaged]);
    expect(verified).toMatchObject({ code: 1, stderr: '' });
    expect(verified.stdout).toContain('1 place is damaged, 0 of 2000 keys are lost');
    expect(verified.stdout).toContain('block 0 of references');
    expect(JSON.parse((await graph(['verify', damaged, '--json'])).stdout)).toMatchObject({
      isUndamaged: false,
      damage: [{ section: 'references', graph: 0, block: 0 }],
      graphs: [{ nodeCount: count, keptNodes: count - 512 }],
    });

    const salvaged = await graph(['salvage', damaged, '-o', path('salvaged.graph')]);
    expect(salvaged).toMatchObject({ code: 1, stderr: '' });
    expect(await graph(['verify', path('salvaged.graph')])).toMatchObject({ code: 0 });
    expect((await graph(['ancestors', path('salvaged.graph'), `node-${count - 513}`, '--count'])).stdout).toBe(
      `${count - 512}\n`,
    );
    expect(await graph(['ancestors', damaged, 'node-1', '--count'])).toMatchObject({ code: 1, stdout: '' });
  });

  test('of what is not a graph file, or not there', async () => {
    expect(await graph(['verify', path('history.txt')])).toMatchObject({ code: 3, stdout: '' });
    expect(await graph(['verify', path('no-such.graph')])).toMatchObject({ code: 3, stdout: '' });
    expect(await graph(['salvage', damaged, '-o', damaged])).toMatchObject({ code: 2, stdout: '' });
    expect(await graph(['salvage', damaged])).toMatchObject({ code: 2, stdout: '' });
  });
});

test.each([['info'], ['get', 'abcd'], ['ancestors', 'abcd'], ['salvage', '-o', path('salvaged.graph')]])(
  '%s of an unsorted segment, which has no graph, says so',
  async (command, ...rest) => {
    const segment = path('segment.unsorted');
    writeFileSync(segment, await unsortedBytes([spanAt(1, 1, 'name', 0, 500)], 500));
    expect(await graph([command, segment, ...rest])).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining(`${segment} is an unsorted segment of an archive, which has no graph`),
    });
  },
);
