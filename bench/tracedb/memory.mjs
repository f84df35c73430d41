// The peak of anonymous memory while a large answer is streamed, in a fresh process that does nothing else. Pages of the store's own map
// are the page cache of the machine, which gives them up when it needs them; they do not count.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { STREAMED, textOf } from './queries.mjs';
import { check } from './support.mjs';

const PROGRAM = fileURLToPath(new URL('./memory-program.mjs', import.meta.url));
const EVERY_MS = 2;

const anonymousBytes = (pid) =>
  Number(/^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;

const streamOnce = async (query) => {
  const child = fork(PROGRAM, [query]);
  try {
    await once(child, 'message');
    const baseline = anonymousBytes(child.pid);
    let peak = baseline;
    const timer = setInterval(() => {
      peak = Math.max(peak, anonymousBytes(child.pid));
    }, EVERY_MS);
    child.send('go');
    const [found] = await once(child, 'message');
    clearInterval(timer);
    return { found, baseline, peak: Math.max(peak, anonymousBytes(child.pid)) };
  } finally {
    child.kill();
  }
};

export const memoryCases = () =>
  Object.entries(STREAMED).map(([name, conditions]) => {
    const query = textOf(conditions);
    const test = {
      name: 'query-peak-memory',
      n: name,
      unit: 'MB',
      opsPerRun: 1,
      measure: async () => {
        const { found, baseline, peak } = await streamOnce(query);
        check(name, found);
        test.note = `${query}: ${found} ids; ${Math.round(baseline / 1e6)} MB before the query`;
        return { caller: [peak / 1e6], total: null };
      },
    };
    return test;
  });
