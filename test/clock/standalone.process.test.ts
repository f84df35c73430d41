// The addons ask for no library and for no version of libc: what is built here on glibc loads into a program of musl.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { faultsOfAddon, wantedSymbols } from '../../scripts/lib/standalone.mjs';
import { root } from '../support/child.js';

const has = (program: string, argument: string): boolean => {
  try {
    execFileSync(program, [argument], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

const isLinux = process.platform === 'linux';
const addons = ['native/tsc/out', 'packages/profile/native/sigprof/out']
  .map((folder) => join(root, folder))
  .filter((folder) => isLinux && existsSync(folder))
  .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
const dir = mkdtempSync(join(tmpdir(), 'spanline-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test.runIf(addons.length > 0 && has('readelf', '--version'))(
  'no library, no version, no name of one libc alone',
  () => {
    expect(addons.flatMap((file) => faultsOfAddon(file).map((fault) => `${file}: ${fault}`))).toEqual([]);
    // An ordinary program of this machine asks for all three.
    const faults = faultsOfAddon('/bin/sh').join('\n');
    for (const fault of ['asks for the library libc', 'asks for versions', 'not every libc'])
      expect(faults).toContain(fault);
  },
);

const HOST = `
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char** files) {
  for (int i = 1; i < count; i++) if (!dlopen(files[i], RTLD_NOW)) { puts(dlerror()); return 1; }
  puts("loaded");
  return 0;
}
`;

// In the place of a Node for musl: a program that has all names of Node which the addons want, each a function that returns.
test.runIf(addons.length > 0 && process.arch === 'x64' && has('musl-gcc', '--version'))('loads with musl', () => {
  const names = addons.flatMap((file) => wantedSymbols(file).symbols.map(({ name }) => name));
  const stubs = [...new Set(names)].filter((name) => /^(napi_|node_|uv_|_Z)/.test(name));
  writeFileSync(join(dir, 'host.c'), HOST);
  writeFileSync(
    join(dir, 'stubs.s'),
    stubs.map((name) => `.globl ${name}\n.type ${name}, @function\n${name}: ret\n`).join(''),
  );
  execFileSync('musl-gcc', ['-rdynamic', '-o', join(dir, 'host'), join(dir, 'host.c'), join(dir, 'stubs.s')], {
    stdio: 'pipe',
  });
  expect(execFileSync(join(dir, 'host'), addons, { encoding: 'utf8' })).toBe('loaded\n');
});
