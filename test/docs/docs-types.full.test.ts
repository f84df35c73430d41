// Every ```ts example of README.md, of docs/ and of the doc comments type-checks against the built package, whether it is run or not.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root, writeExamples } from './support/examples.js';

const out = writeExamples('docs-types');

test('all examples type-check', () => {
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { noUnusedLocals: false, paths: {}, target: 'ESNext' },
    include: [join(out, '*.ts')],
    exclude: [],
  };
  writeFileSync(join(out, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(root, 'node_modules/typescript-7/bin/tsc');
  const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', out], { encoding: 'utf8' });
  expect(stdout).toBe('');
  expect(status).toBe(0);
});
