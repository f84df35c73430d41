// A real process with a flight recorder, and stores for snapshots of it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll } from 'vitest';
import { root } from '../../../../test/support/built.js';
import { SnapshotStore } from '../../src/snapshots/snapshot-store.js';

/** A report has the event loop for long while a request waits; then it idles, or blocks as its second argument says. */
const SOURCE = `
import { configure, LocalSpan, Span } from ${JSON.stringify(pathToFileURL(join(root, 'dist/esm/index.js')).href)};
const [options, last] = process.argv.slice(2);
configure({ serviceName: 'shop', ...JSON.parse(options) });
const busy = (ms) => { const end = performance.now() + ms; while (performance.now() < end); };
setTimeout(() => {
  const waits = Span.root('GET /waits');
  setTimeout(() => waits.end(), 20);
  setTimeout(() => {
    const report = Span.root('GET /report');
    report.run(() => {
      const local = LocalSpan.start('build report');
      busy(250);
      local.end();
    });
    report.end();
    setTimeout(() => {
      setInterval(() => {}, 1000);
      // Written at once: a pipe is synchronous.
      console.log('ready');
      if (last === 'block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    }, 300);
  }, 5);
}, 50);
`;
/** Starts the program in a process of its own, for the tests of a file, and gives its process id when it has done its work. */
export type StartShop = (options: object, more?: { last?: 'wait' | 'block'; env?: object }) => Promise<number>;

/** A way to start it; the program is written to `program`. */
export const useShop = (program: string): StartShop => {
  writeFileSync(program, SOURCE);
  const children: ChildProcess[] = [];
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  return async (options, { last = 'wait', env = {} } = {}) => {
    const child = spawn(process.execPath, ['--inspect-port=0', program, JSON.stringify(options), last], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, NODE_OPTIONS: '', ...env },
    });
    children.push(child);
    await once(child.stdout, 'data');
    return child.pid as number;
  };
};

/** What a request must bring to have a snapshot taken by a store of the tests. */
export const TOKEN = 'token-of-the-tests';

/** Stores of snapshots for the tests of a file, closed behind them. */
export const useSnapshotStores = (): ((options?: ConstructorParameters<typeof SnapshotStore>[0]) => SnapshotStore) => {
  const stores: SnapshotStore[] = [];
  afterAll(async () => {
    for (const store of stores) await store.close();
  });
  return (options = {}) => {
    const store = new SnapshotStore({ token: TOKEN, ...options });
    stores.push(store);
    return store;
  };
};
