// npm run docs:api: TypeDoc reads every public entry without a warning, so that each {@link} leads to a name.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { root } from '../support/built.js';

test('the reference of public names is made without a warning', () => {
  const out = mkdtempSync(join(tmpdir(), 'spanline-api-'));
  onTestFinished(() => rmSync(out, { recursive: true, force: true }));
  const { status, stderr } = spawnSync(process.execPath, ['scripts/api-docs.mjs', out], {
    cwd: root,
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  for (const name of ['spanline', 'spanline_otel', '_spanline_tracedb_bench-history'])
    expect(existsSync(join(out, `modules/${name}.html`)), name).toBe(true);
}, 120_000);
