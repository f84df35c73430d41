// What every copy of the package shares in a process may have been made by another version, with fewer fields or more: each copy adds what it misses,
// and leaves what it does not know.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildFirst, root } from '../support/built.js';

buildFirst();

/** Imports the built package beside a state that has `fields` of ours and one of its own; prints what was recorded and what is left of that one. */
const program = (fields: string): string => `
  const key = Symbol.for('spanline.state.1');
  await import(${JSON.stringify(join(root, 'dist/esm/index.js'))});
  const whole = globalThis[key];
  globalThis[key] = { ...Object.fromEntries(${fields}.map((name) => [name, whole[name]])), ofAnotherVersion: 'kept' };
  const { createRequire } = await import('node:module');
  const require = createRequire(${JSON.stringify(root)});
  for (const file of Object.keys(require.cache)) delete require.cache[file];
  const { Collector, LocalSpan, Span, stats } = require(${JSON.stringify(join(root, 'dist/cjs/index.js'))});
  const { MemoryReporter } = require(${JSON.stringify(join(root, 'dist/cjs/exporters/memory.js'))});
  const collector = new Collector();
  const memory = new MemoryReporter();
  collector.setReporter(memory);
  const span = Span.root('root', undefined, { collector });
  span.run(() => LocalSpan.start('inner').end());
  span.end();
  await collector.flush();
  const state = globalThis[key];
  console.log(JSON.stringify([memory.tree(), state.ofAnotherVersion, Object.keys(whole).filter((name) => !(name in state)), stats().tracesStarted > 0]));
`;

test.each([
  ['nothing', '[]'],
  ['all', 'Object.keys(whole)'],
  ['all but one each', "['enabled', 'development', 'queueStore', 'unfinished', 'names', 'scopes', 'counters']"],
  ['the newest alone', "['takeStacks', 'timeline']"],
])('a state that has %s', (_, fields) => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program(fields)], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual(['root\n  inner', 'kept', [], true]);
});
