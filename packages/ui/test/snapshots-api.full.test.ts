// Snapshots of real processes as the server answers of them: which are listed, that one is taken and looked at as an archive is, who may ask for it, and
// what is said of files that are none.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { buildFirst, scratch } from '../../../test/support/built.js';
import type { Archive } from '../../archive/src/index.js';
import type {
  ProcessesAnswer,
  SnapshotFacts,
  SnapshotsAnswer,
  StallsAnswer,
  TracesAnswer,
} from '../src/api/answers.js';
import type { TraceAnswer } from '../src/api/trace/answers.js';
import { CART } from './support/cart.js';
import { TOKEN } from './support/shop-process.js';
import { useSnapshotServer } from './support/snapshot-server.js';

buildFirst();
const dir = scratch();
const { serve, running, snapshotStoreOf, ask, post, take, on } = useSnapshotServer(dir);

let pid: number;
let archive: Archive;
let url: string;
beforeAll(() => {
  ({ pid, archive, url } = on);
});

describe('answers', () => {
  test('processes are listed with what is known of their recorder, this one is not', async () => {
    const other = await running({});
    const files = join(dir, 'rows');
    mkdirSync(files);
    const writing = await running({ flightRecorder: { file: files, maxBytes: 1 << 20 } });
    const { processes, omitted } = await ask<ProcessesAnswer>('snapshots/processes');
    const of = (wanted: number) => processes.find((one) => one.pid === wanted);
    expect(of(pid)).toMatchObject({ hasRecorder: true, command: expect.stringContaining('shop.mjs') });
    expect(of(writing)).toMatchObject({ hasRecorder: true });
    expect(of(other)).toMatchObject({ hasRecorder: false });
    expect(of(process.pid)).toBeUndefined();
    expect(omitted).toBe(0);
    const firstUnknown = processes.findIndex(({ hasRecorder }) => !hasRecorder);
    expect(processes.slice(firstUnknown).some(({ hasRecorder }) => hasRecorder)).toBe(false);
  });

  test('one that is taken is looked at as an archive is', async () => {
    const { id: snapshot, spanCount, bytes } = await take(pid);
    expect(spanCount).toBe(3);
    const { files, isTemporary } = await ask<SnapshotsAnswer>('snapshots');
    expect(files.find(({ id }) => id === snapshot)).toMatchObject({ bytes });
    expect(isTemporary).toBe(true);
    expect(await ask<SnapshotFacts>('snapshots/facts', { snapshot })).toMatchObject({
      ...{ id: snapshot, service: 'shop', pid, reason: 'command', spanCount: 3, traceCount: 2 },
      ...{ tornRows: 0, refused: 0, hasTimeline: true },
    });
    const { traces } = await ask<TracesAnswer>('traces', { snapshot });
    expect(traces.map(({ name }) => name).sort()).toEqual(['GET /report', 'GET /waits']);
    const waits = traces.find(({ name }) => name === 'GET /waits')?.traceId as string;
    const trace = await ask<TraceAnswer>('trace', { snapshot, id: waits });
    expect(trace.timelines.map(({ process }) => process)).toEqual([`shop ${pid}`]);
    expect(trace.breakdowns[0].others[0]).toMatchObject({ name: expect.stringMatching(/report/) });
    const { stalls, hasTimeline } = await ask<StallsAnswer>('stalls', { snapshot });
    expect(hasTimeline).toBe(true);
    // Opening the inspector stalls a process too.
    const stall = stalls.find(({ holders }) => holders.some(({ name }) => name === 'build report'));
    expect(stall?.waiters.map(({ traceId }) => traceId)).toContain(waits);
    // The archive has none of it, and is meant where no snapshot is named.
    await expect(ask('trace', { id: waits })).rejects.toThrow(/^404/);
    expect((await ask<TraceAnswer>('trace', { id: CART })).name).toBe('GET /cart');
    await expect(ask('trace', { id: CART, snapshot })).rejects.toThrow(/^404/);
  });

  test('only the page of this server may ask for one, and says of what only', async () => {
    const count = async (): Promise<number> => (await ask<SnapshotsAnswer>('snapshots')).files.length;
    const before = await count();
    expect((await post({ pid }, { origin: 'http://evil.example' })).status).toBe(403);
    expect((await post({ pid }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await post({ pid }, { 'content-type': 'text/plain' })).status).toBe(415);
    for (const wrong of [{}, { pid: String(pid) }, { pid: 0 }, { pid: 1.5 }, { pid: 2 ** 31 }, null, [pid]])
      expect((await post(wrong)).status).toBe(400);
    const guarded = await serve({ snapshots: snapshotStoreOf() }, { token: TOKEN });
    expect((await post({ pid }, { authorization: '' }, guarded)).status).toBe(401);
    expect((await fetch(`${guarded}/api/snapshots/processes`)).status).toBe(401);
    expect((await fetch(`${url}/api/snapshots/take`)).status).toBe(405);
    expect(await count()).toBe(before);
    // Where it is written is not for the request to say.
    const response = await post({ pid, path: join(dir, 'mine.flight'), directory: dir });
    expect(response.status).toBe(200);
    expect(existsSync(join(dir, 'mine.flight'))).toBe(false);
  });

  test('without the token, or of a process that shows no recorder, none is taken, and nobody gets a signal', async () => {
    // SIGUSR2 asks whether there was a SIGUSR1.
    const program = `
      let signals = 0;
      process.on('SIGUSR1', () => signals++);
      process.on('SIGUSR2', () => console.log(signals));
      setInterval(() => {}, 1000);
      console.log('ready');`;
    for (const [setting, headers, status, words] of [
      ['on', { authorization: '' }, 401, /wants a token/],
      ['on', { authorization: `Bearer ${TOKEN}x` }, 401, /wants a token/],
      ['off', {}, 400, /shows no flight recorder.*spanline snapshot \d+/],
    ] as const) {
      const env = { ...process.env, NODE_OPTIONS: '', SPANLINE_FLIGHT_RECORDER: setting };
      const child = spawn(process.execPath, ['-e', program], { env, stdio: ['ignore', 'pipe', 'inherit'] });
      onTestFinished(() => {
        child.kill('SIGKILL');
      });
      await once(child.stdout, 'data');
      const response = await post({ pid: child.pid }, headers);
      expect([response.status, await response.text()]).toEqual([status, expect.stringMatching(words)]);
      child.kill('SIGUSR2');
      expect(String((await once(child.stdout, 'data'))[0])).toBe('0\n');
    }
    // Each store that is given none has its own.
    const [one, two] = [snapshotStoreOf({ token: undefined }), snapshotStoreOf({ token: undefined })];
    expect(one.token).toMatch(/^[\da-f]{32}$/);
    expect(two.token).not.toBe(one.token);
    // Neither itself nor what is no Node.js.
    const sleeper = spawn('sleep', ['60']);
    onTestFinished(() => {
      sleeper.kill();
    });
    for (const other of [process.pid, sleeper.pid]) {
      const response = await post({ pid: other });
      expect([response.status, await response.text()]).toEqual([400, expect.stringMatching(/there is no process/)]);
    }
  });

  test('a name reaches no other file, and what is not a snapshot says so', async () => {
    const directory = join(dir, 'store');
    mkdirSync(directory);
    writeFileSync(join(directory, 'damaged.flight'), 'no snapshot');
    writeFileSync(join(directory, 'notes.txt'), 'no snapshot');
    writeFileSync(join(dir, 'secret.flight'), 'no snapshot');
    const base = await serve({ snapshots: snapshotStoreOf({ directory }) });
    for (const snapshot of ['../secret.flight', join(dir, 'secret.flight'), 'notes.txt', '.', 'none.flight'])
      await expect(ask('traces', { snapshot }, base)).rejects.toThrow(/^404 .*there is no snapshot/);
    await expect(ask('traces', { snapshot: 'damaged.flight' }, base)).rejects.toThrow(
      /^400 .*not a snapshot of the flight/,
    );
    await expect(ask('traces', {}, base)).rejects.toThrow(/^404 .*no archive is open/);
    const none = await serve({ archive });
    await expect(ask('traces', { snapshot: 'damaged.flight' }, none)).rejects.toThrow(/^404 .*no snapshots are open/);
    expect((await fetch(`${none}/api/snapshots`)).status).toBe(404);
    // A directory that is not there yet is made when one is taken, and keeps it.
    const later = join(dir, 'later');
    const store = snapshotStoreOf({ directory: later });
    const kept = await serve({ snapshots: store });
    expect(await ask<SnapshotsAnswer>('snapshots', {}, kept)).toEqual({ files: [], omitted: 0, isTemporary: false });
    const { id } = await take(pid, kept);
    expect(readdirSync(later)).toEqual([id]);
    await store.close();
    expect(readdirSync(later)).toEqual([id]);
  });
});
