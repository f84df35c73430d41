// Frames of compiled code are found in their TypeScript, by inline maps and by files; what is broken is counted and stays as it is.
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transformSync } from 'esbuild';
import { afterAll, expect, test } from 'vitest';
import type { Frame } from '../../src/call-tree.js';
import { openSourceMaps, resolveSources } from '../../src/output/source-maps.js';
import { sampled } from '../support/sampled.js';

const dir = mkdtempSync(join(tmpdir(), 'spanline-maps-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const SOURCE = `interface Row { id: number }

type Rows = readonly Row[];

export function totalOf(rows: Rows): number {
  return rows.reduce((sum, row) => sum + row.id, 0);
}
export const unrelated = 1;
`;

type Kind = 'inline' | 'external';

/** Compile and give the file and the place of the function in it, as V8 tells it: the bracket of its parameters. */
const compiled = (name: string, kind: Kind, minify: boolean) => {
  const { code, map } = transformSync(SOURCE, {
    loader: 'ts',
    sourcefile: `${name}.ts`,
    sourcemap: kind,
    minify,
    format: 'cjs',
  });
  const file = join(dir, `${name}.js`);
  writeFileSync(file, kind === 'inline' ? code : `${code}//# sourceMappingURL=${name}.js.map\n`);
  if (kind === 'external') writeFileSync(`${file}.map`, map);
  const at = code.search(/function (\w+)\(/);
  const functionName = /function (\w+)\(/.exec(code)?.[1] ?? '';
  const before = code.slice(0, at + 'function '.length + functionName.length);
  const line = before.split('\n').length;
  const column = before.length - (before.lastIndexOf('\n') + 1) + 1;
  return { functionName, url: pathToFileURL(file).href, line, column };
};

const source = (name: string): string => pathToFileURL(join(dir, `${name}.ts`)).href;

test.each<[Kind, boolean]>([
  ['inline', false],
  ['inline', true],
  ['external', false],
  ['external', true],
])('%s map, minified: %s', async (kind, minify) => {
  const name = `${kind}-${minify}`;
  const frame = compiled(name, kind, minify);
  const maps = await openSourceMaps();
  expect(maps.resolve(frame)).toMatchObject({ url: source(name), line: 5 });
  // Minified, the function has another name; the map tells the one it was written with.
  expect(maps.resolve(frame).functionName).toBe('totalOf');
  expect(maps.stats()).toMatchObject({ broken: 0, unmapped: 0 });
});

test('a name of the map is taken where the function’s own name stands, not that of a parameter', async () => {
  const file = join(dir, 'names.js');
  writeFileSync(file, 'function a(b){return b}\n//# sourceMappingURL=names.js.map\n');
  // Columns 0 (function), 9 (a: "outer"), 11 (b: "parameter").
  const map = { version: 3, sources: ['names.ts'], names: ['outer', 'parameter'], mappings: 'AAAA,SAASA,EAAEC' };
  writeFileSync(`${file}.map`, JSON.stringify(map));
  const maps = await openSourceMaps();
  const at = (functionName: string, column: number): Frame =>
    maps.resolve({ functionName, url: pathToFileURL(file).href, line: 1, column });
  expect(at('a', 11)).toMatchObject({ functionName: 'outer', line: 1, column: 10 });
  expect(at('a', 12).functionName).toBe('a');
  expect(at('', 11).functionName).toBe('');
});

test('maps that are broken, missing, remote or of nothing are not a failure', async () => {
  const maps = await openSourceMaps();
  const frameOf = (name: string, comment: string): Frame => {
    const file = join(dir, name);
    writeFileSync(file, `function f() {}\n${comment}\n`);
    return { functionName: 'f', url: pathToFileURL(file).href, line: 1, column: 11 };
  };
  const frames = [
    frameOf('json.js', '//# sourceMappingURL=data:application/json;base64,bm8gSlNPTg=='),
    frameOf('version.js', '//# sourceMappingURL=data:application/json,%7B%22version%22%3A9%7D'),
    frameOf('percent.js', '//# sourceMappingURL=data:application/json,%%'),
    frameOf('missing.js', '//# sourceMappingURL=not-there.js.map'),
    frameOf('remote.js', '//# sourceMappingURL=https://example.invalid/x.js.map'),
    frameOf('none.js', ''),
    { functionName: 'g', url: 'node:fs', line: 3, column: 4 },
    { functionName: 'h', url: pathToFileURL(join(dir, 'gone.js')).href, line: 3, column: 4 },
    { functionName: '(program)', url: '', line: 0, column: 0 },
  ];
  for (const frame of frames) expect(maps.resolve(frame)).toBe(frame);
  expect(maps.stats()).toMatchObject({ resolved: 0, broken: 3, unmapped: 7 });
});

test('at most so many maps are kept', async () => {
  const maps = await openSourceMaps({ maxMaps: 2 });
  const frames = [1, 2, 3, 4, 5].map((i) => compiled(`many-${i}`, 'inline', false));
  for (const frame of [...frames, ...frames]) expect(maps.resolve(frame).line).toBe(5);
  expect(maps.stats()).toMatchObject({ resolved: 10, evicted: 8 });
});

test('a map that the process holds is asked first', async () => {
  const { functionName, line, column, url } = compiled('held', 'external', false);
  const { map } = transformSync(SOURCE, {
    loader: 'ts',
    sourcefile: 'memory.ts',
    sourcemap: 'external',
    format: 'cjs',
  });
  const buffered = JSON.parse(map) as unknown;
  const maps = await openSourceMaps({ lookup: (asked) => (asked === url ? buffered : undefined) });
  expect(maps.resolve({ functionName, url, line, column }).url).toBe(source('memory'));
});

test('a profile keeps its samples; frames of two builds of one source become one', async () => {
  const a = compiled('same', 'inline', false);
  const other = `${a.url}.copy.js`;
  writeFileSync(
    new URL(other),
    `${transformSync(SOURCE, { loader: 'ts', sourcefile: 'same.ts', sourcemap: 'inline', format: 'cjs' }).code}`,
  );
  const profile = sampled([
    { stack: ['main', a], labels: { q: 'q1' }, samples: 3 },
    { stack: ['main', { ...a, url: other }], samples: 2 },
    { stack: ['main', { ...a, url: other }, 'leaf'], samples: 1 },
  ]);
  const resolved = resolveSources(profile, await openSourceMaps());
  expect(resolved.nodes.url.filter((url) => url === source('same'))).toHaveLength(1);
  expect(resolved.samples.count).toBe(6);
  expect(resolved.counts).toEqual(profile.counts);
  expect(resolved.nodes.functionName).toEqual(['(root)', 'main', 'totalOf', 'leaf']);
});

test('a script larger than any that is written by hand is not read', async () => {
  const { functionName, url, line, column } = compiled('huge', 'inline', false);
  truncateSync(new URL(url), (64 << 20) + 1);
  const maps = await openSourceMaps();
  const frame = { functionName, url, line, column };
  expect(maps.resolve(frame)).toBe(frame);
  expect(maps.stats()).toMatchObject({ broken: 1, resolved: 0 });
});
