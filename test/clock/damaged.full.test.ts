// Whatever is wrong with the binaries, the program starts, has a clock, and is told why not a better one.
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleChild, root, runFile } from '../support/child.js';

const FAST = `tsc-fast-${process.versions.modules}.node`;
const BUILT = join(root, 'native/tsc/out');
const PREBUILDS = `prebuilds/${process.platform}-${process.arch}`;
const addon = join(BUILT, 'tsc.node');
const fast = join(BUILT, FAST);
const hasAddon = process.platform === 'linux' && existsSync(addon) && existsSync(fast);

interface Info {
  readonly source: string;
  readonly path: string;
  readonly reasons: readonly string[];
  readonly runs: boolean;
}

const child = fileURLToPath(new URL('./children/info.ts', import.meta.url));
let bundle: string;
beforeAll(async () => {
  bundle = await bundleChild(child);
});
const dirs: string[] = [];
afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
});

const newDir = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'spanline-'));
  dirs.push(dir);
  return dir;
};

/** A package of ours with these files in it, each a copy of another or the bytes given. */
const infoWith = async (files: Record<string, string | Buffer>, execArgv: readonly string[] = []): Promise<Info> => {
  const dir = newDir();
  writeFileSync(join(dir, 'package.json'), '{\n  "name": "spanline"\n}\n');
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(dir, path, '..'), { recursive: true });
    if (typeof content === 'string') copyFileSync(content, join(dir, path));
    else writeFileSync(join(dir, path), content);
  }
  copyFileSync(bundle, join(dir, 'info.mjs'));
  const { code, signal, stdout, stderr } = await runFile(join(dir, 'info.mjs'), { execArgv });
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: '' });
  const info = JSON.parse(stdout) as Info;
  expect(info.runs).toBe(true);
  return info;
};

const cut = (file: string, bytes: number): Buffer => readFileSync(file).subarray(0, bytes);
const OUT = 'native/tsc/out';

test('no addon', async () => {
  const { path, reasons } = await infoWith({});
  expect([path, reasons]).toEqual([
    'js',
    [`no tsc.node for ${process.platform}-${process.arch}`, 'performance.now() is read instead'],
  ]);
});

test.runIf(hasAddon)('whole files leave no reason', async () => {
  const { path, reasons } = await infoWith({ [`${OUT}/tsc.node`]: addon, [`${OUT}/${FAST}`]: fast });
  expect(path).toBe('fast');
  expect(reasons.join()).not.toContain('.node');
});

test.runIf(hasAddon).each([0, 40, 64, 5000, 20_000])('an addon cut off after %i bytes', async (bytes) => {
  const { path, reasons } = await infoWith({ [`${OUT}/tsc.node`]: cut(addon, bytes), [`${OUT}/${FAST}`]: fast });
  expect(path).toBe('js');
  expect(reasons.join()).toMatch(bytes < 64 ? 'too short' : `cut off after ${bytes} of`);
});

test.runIf(hasAddon)('a damaged addon leaves the one that was published', async () => {
  const files = {
    [`${OUT}/tsc.node`]: cut(addon, 5000),
    [`${PREBUILDS}/tsc.node`]: addon,
    [`${PREBUILDS}/${FAST}`]: fast,
  };
  const { path, reasons } = await infoWith(files);
  expect(path).toBe('fast');
  expect(reasons.join()).toContain('native/tsc/out/tsc.node');
});

test.runIf(hasAddon).each<[string, () => string | Buffer, RegExp]>([
  [
    'is not a binary',
    () => Buffer.from('#!/bin/sh\necho never gonna load this, it is longer than a header\n'),
    /invalid ELF/,
  ],
  ['is another addon', () => fast, /the addon failed/],
])('an addon that %s', async (_, content, reason) => {
  const { path, reasons } = await infoWith({ [`${OUT}/tsc.node`]: content() });
  expect(path).toBe('js');
  expect(reasons.join()).toMatch(reason);
});

test.runIf(hasAddon).each<[string, () => string | Buffer]>([
  ['is cut off', () => cut(fast, 3000)],
  ['is another addon', () => addon],
  ['is not a binary', () => Buffer.alloc(100)],
])('a fast-call file that %s leaves Node-API', async (_, content) => {
  const { path, reasons } = await infoWith({ [`${OUT}/tsc.node`]: addon, [`${OUT}/${FAST}`]: content() });
  expect(path).toBe('napi');
  expect(reasons.join()).toMatch(/fast/);
});

const otherAbi = hasAddon ? ['115', '137', '127', '147'].map((abi) => join(BUILT, `tsc-fast-${abi}.node`)) : [];
const foreign = otherAbi.find((file) => file !== fast && existsSync(file));
test.runIf(foreign !== undefined)('a fast-call file of another ABI leaves Node-API', async () => {
  const { path, reasons } = await infoWith({ [`${OUT}/tsc.node`]: addon, [`${OUT}/${FAST}`]: foreign ?? '' });
  expect(path).toBe('napi');
  expect(reasons.join()).toMatch(/NODE_MODULE_VERSION|undefined symbol/);
});

test.runIf(hasAddon)('addons forbidden', async () => {
  const { path, reasons } = await infoWith({ [`${OUT}/tsc.node`]: addon }, ['--no-addons']);
  expect(path).toBe('js');
  expect(reasons.join()).toContain('disabled');
});

test.each(['esm', 'cjs'] as const)('a bundle elsewhere, as %s', async (format) => {
  const outfile = join(newDir(), `info.${format === 'esm' ? 'mjs' : 'cjs'}`);
  await build({ entryPoints: [child], outfile, bundle: true, platform: 'node', format, logLevel: 'silent' });
  const { code, stdout, stderr } = await runFile(outfile);
  expect([code, stderr]).toEqual([0, '']);
  expect(JSON.parse(stdout)).toMatchObject({
    path: 'js',
    runs: true,
    reasons: [expect.stringContaining('bundle'), 'performance.now() is read instead'],
  });
});
