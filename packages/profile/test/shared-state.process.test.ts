// The label register of a thread may have been made by another version of the package, with fewer fields or more: each copy adds what it misses, and
// leaves what it does not know.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildFirst, root } from '../../../test/support/built.js';

buildFirst();

/** Loads the built package beside a register that has `fields` of ours and one of its own; prints what became of it and of a label. */
const program = (fields: string): string => `
  import { createRequire } from 'node:module';
  const file = ${JSON.stringify(join(root, 'packages/profile/dist/cjs/index.js'))};
  const require = createRequire(file);
  require(file);
  const key = Symbol.for('spanline.profile.0');
  const whole = globalThis[key];
  globalThis[key] = { ...Object.fromEntries(${fields}.map((name) => [name, whole[name]])), ofAnotherVersion: 'kept' };
  for (const name of Object.keys(require.cache)) delete require.cache[name];
  const { DynamicLabel, stats } = require(file);
  const register = globalThis[key];
  const label = new DynamicLabel('query', 'large');
  const ids = [register.cell[0], label.run(() => register.cell[0]), register.cell[0]];
  const isNone = register.current === register.none;
  const missing = Object.keys(whole).filter((name) => !(name in register));
  console.log(JSON.stringify([ids.map((id) => id > 0), isNone, missing, register.ofAnotherVersion, stats().counters.profiles]));
`;

test.each([
  ['nothing', '[]'],
  ['all', 'Object.keys(whole)'],
  ['nothing that labels nothing', "['nextId', 'cell', 'counters', 'isBusy']"],
  ['what labels nothing, and no current scope', "['none', 'nextId', 'cell']"],
  ['no counters', "Object.keys(whole).filter((name) => name !== 'counters' && name !== 'ownCode')"],
])('a register that has %s', (_, fields) => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program(fields)], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual([[false, true, false], true, [], 'kept', 0]);
});
