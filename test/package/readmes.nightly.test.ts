// Each package, with the packages that it depends on and nothing else, in an empty folder: the examples of its README run on every line of Node, and
// its addon is loaded where its tarball has one for this machine.
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { beforeAll, expect, test } from 'vitest';
import { nodeOf } from '../../scripts/lib/nodes.mjs';
import { examplesOf } from '../docs/support/examples.js';
import { build } from './consumer.js';
import { install, manifests, withSiblings } from './installed.js';

const LINES = [20, 22, 24, 26];
/** What the examples of the core's README take besides. */
const OTHERS: Readonly<Record<string, readonly string[]>> = { '': ['packages/profile', 'packages/archive'] };

const ADDON: Readonly<Record<string, string>> = {
  '': `import { clockInfo } from 'spanline'; console.log(clockInfo().path);`,
  'packages/profile': `import { startProfile } from '@spanline/profile'; const running = await startProfile(); console.log(running.stop().carrier);`,
};
/** Printed by the above when the addon is there. */
const ATTACHED: Readonly<Record<string, RegExp>> = { '': /^(fast|napi)/, 'packages/profile': /^register\n$/ };

beforeAll(build);

const run = (dir: string, line: number, code: string): { code: number | null; stdout: string; stderr: string } => {
  writeFileSync(join(dir, 'example.mjs'), transformSync(code, { loader: 'ts', format: 'esm', target: 'node20' }).code);
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(nodeOf(line), ['example.mjs'], { cwd: dir, env, encoding: 'utf8' });
  return { code: status, stdout, stderr };
};

test.each([...manifests].map(([folder, { name }]) => [name, folder] as const))(
  '%s',
  (_name, folder) => {
    const dir = install([...new Set([folder, ...(OTHERS[folder] ?? [])].flatMap(withSiblings))]);
    const examples = examplesOf(join(folder, 'README.md')).filter(({ isRun }) => isRun);
    const place = join(dir, 'node_modules', (manifests.get(folder) as { name: string }).name);
    const hasAddon = existsSync(join(place, `prebuilds/${process.platform}-${process.arch}`));
    for (const line of LINES) {
      for (const { name, code } of examples)
        expect({ name, line, ...run(dir, line, code) }).toMatchObject({
          code: 0,
          // Where the console reporter prints.
          stderr: expect.not.stringMatching(/Error|Warning/),
        });
      if (hasAddon) expect(run(dir, line, ADDON[folder]).stdout).toMatch(ATTACHED[folder]);
    }
  },
  600_000,
);
