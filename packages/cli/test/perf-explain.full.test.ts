// `spanline perf query --explain --otlp` waits its time for a server that takes nothing, and says so.
import { expect, test } from 'vitest';
import { perfStore } from './support/perf-store.js';
import { type Outcome, spanline } from './support/spanline.js';

const { store } = perfStore();
const explain = (query: string, ...args: string[]): Promise<Outcome> =>
  spanline(['perf', 'query', '--store', store, query, '--explain', ...args]);

test('a server that does not take the trace ends the command with 3; the answer is printed all the same', async () => {
  const { code, stdout, stderr } = await explain('test=draw', '--otlp', 'http://127.0.0.1:1');
  expect(code).toBe(3);
  expect(stdout).toMatch(/\n1 traces; trace [0-9a-f]{32}\n$/);
  expect(stderr).toMatch(/^spanline: the trace did not reach http:\/\/127\.0\.0\.1:1: /);
});
