// Five writers, three readers and two maintainers, all processes, that are killed and paused at any moment, over a store that refuses, cuts, loses answers
// and lists what there was five seconds ago: what a writer was told is sealed is found exactly once at each moment from then on, and nothing goes that the
// newest generation names. A minute; ten in the nightly suite.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { bundleChild } from '../../../../test/support/child.js';
import { samples } from '../../../../test/support/samples.js';
import { describeBucket, type RunningVersitygw } from '../../../../test/support/versitygw.js';
import { Archive } from '../../src/archive.js';
import { BucketMaintainer } from '../../src/bucket/bucket-maintenance.js';
import { Catalogue } from '../../src/bucket/catalogue.js';
import { openObjectStore } from '../../src/bucket/object-store.js';
import { newDirectory } from '../archive/support/directory.js';
import { numberedTrace } from '../archive/support/numbered-traces.js';
import { seededRandom } from '../segment/support/synthetic-spans.js';
import { readAll } from './support/shop.js';
import { type StoreProxy, startStoreProxy, type Trouble } from './support/store-proxy.js';

const DURATION_MS = samples(60_000, 60_000, 600_000);
const STALE_MS = 5000;
/** Longer than lists are old and a query takes; shorter than pauses. */
const GRACE_MS = 12_000;
const PAUSE_MS = 15_000;
const PLACE = 's3://traces/torture';
/** Numbers of one life of a writer, which takes 20 a second: none reaches those of the next, however long it lives. */
const LIFE_STEP = 100_000;
/** A writer has fewer lives. */
const LIVES = 100;

const bundled = (name: string): Promise<string> =>
  bundleChild(fileURLToPath(new URL(`./children/${name}.ts`, import.meta.url)));

/** A process that is started again whenever it was killed. */
class Immortal {
  #child: ChildProcess | undefined;
  lives = 0;
  stderr = '';
  #isOver = false;

  constructor(
    private readonly argsOf: (life: number) => readonly string[],
    private readonly env: Record<string, string>,
    private readonly onLine: (line: string, life: number) => void,
    private readonly onStart: (child: ChildProcess) => void = () => {},
  ) {
    this.#start();
  }

  get child(): ChildProcess {
    return this.#child as ChildProcess;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** End it for good. */
  async end(): Promise<void> {
    this.#isOver = true;
    const { child } = this;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGCONT');
    child.kill('SIGKILL');
    await ended;
  }

  #start(): void {
    const life = this.lives++;
    const child = spawn(process.execPath, [...this.argsOf(life)], {
      env: { ...process.env, NODE_OPTIONS: '', ...this.env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    child.stdin.on('error', () => {});
    child.stderr.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    createInterface({ input: child.stdout }).on('line', (line) => this.onLine(line, life));
    child.once('exit', () => {
      if (!this.#isOver) this.#start();
    });
    this.onStart(child);
  }
}

/** One request in twenty is troubled. */
const troubles = (random: () => number): Trouble | undefined => {
  const chance = random();
  if (chance < 0.01) return { kind: 'answer', status: 503, code: 'SlowDown' };
  if (chance < 0.02) return { kind: 'answer', status: 500, code: 'InternalError' };
  if (chance < 0.03) return { kind: 'reset' };
  if (chance < 0.04) return { kind: 'lost' };
  if (chance < 0.05) return { kind: 'half' };
  return undefined;
};

const variablesOf = ({ accessKeyId, secretAccessKey, region }: RunningVersitygw, { endpoint }: StoreProxy) => ({
  AWS_ACCESS_KEY_ID: accessKeyId,
  AWS_SECRET_ACCESS_KEY: secretAccessKey,
  AWS_REGION: region,
  AWS_ENDPOINT_URL: endpoint,
});

describeBucket('an archive in a bucket', (server) => {
  test('loses nothing and shows nothing twice, whatever happens to whom', {
    timeout: DURATION_MS + 600_000,
  }, async () => {
    const random = seededRandom(77);
    const proxy = await startStoreProxy(server().endpoint);
    onTestFinished(() => proxy.close());
    proxy.staleMs = STALE_MS;
    proxy.trouble = () => troubles(random);
    const env = variablesOf(server(), proxy);
    const [writeProgram, readProgram, maintainProgram] = await Promise.all(
      ['write-to-bucket', 'read-bucket', 'maintain-bucket'].map(bundled),
    );
    const all: Immortal[] = [];
    onTestFinished(async () => void (await Promise.all(all.map((one) => one.end()))));

    /** What writers were told is sealed, and when. */
    const sealed: { readonly first: number; readonly end: number; readonly atMs: number }[] = [];
    let failedSeals = 0;
    const spools = Array.from({ length: 5 }, newDirectory);
    const writers = spools.map(
      (spool, w) =>
        new Immortal(
          (life) => [writeProgram, PLACE, spool, String((w * LIVES + life) * LIFE_STEP)],
          env,
          (line) => {
            const [, first, end] = /^sealed (\d+) (\d+)$/.exec(line) ?? [];
            if (first !== undefined) sealed.push({ first: Number(first), end: Number(end), atMs: Date.now() });
            else failedSeals++;
          },
        ),
    );
    /** Ranges that are in every list since long ago. */
    const ranges = (): [number, number][] => {
      const ends = new Map<number, number>();
      for (const { first, end, atMs } of sealed)
        if (Date.now() - atMs > STALE_MS + 500) ends.set(first, Math.max(end, ends.get(first) ?? 0));
      return [...ends];
    };

    const faults: string[] = [];
    let checks = 0;
    let checked = 0;
    let unanswered = 0;
    const ask = (child: ChildProcess): void => void child.stdin?.write(`${JSON.stringify(ranges())}\n`);
    const readers = Array.from({ length: 3 }, () => {
      const cache = newDirectory();
      const reader: Immortal = new Immortal(
        () => [readProgram, PLACE, cache, String(GRACE_MS)],
        env,
        (line) => {
          const answer = JSON.parse(line.slice('checked '.length));
          if (answer.failure !== undefined) {
            // However often it was asked, the store was troubled each time.
            if (answer.failure.startsWith('ERR_SPANLINE_BUCKET_UNAVAILABLE')) unanswered++;
            else faults.push(line);
          } else {
            checks++;
            checked += answer.numbers;
            if (answer.wrong.length + answer.notOnce.length + answer.twice + answer.damaged.length > 0)
              faults.push(line);
          }
          setTimeout(() => ask(reader.child), 200);
        },
        ask,
      );
      return reader;
    });

    const done = new Map<string, { merged: number; deleted: number; folded: number; lostMerges: number }>();
    const maintainers = [0, 1].map(
      (m) =>
        new Immortal(
          () => [maintainProgram, PLACE, String(GRACE_MS)],
          env,
          (line, life) => void done.set(`${m} ${life}`, JSON.parse(line.slice('stats '.length))),
        ),
    );
    all.push(...writers, ...readers, ...maintainers);

    const { accessKeyId, secretAccessKey, region, endpoint, data } = server();
    const direct = openObjectStore(PLACE, {
      region,
      endpoint,
      credentials: async () => ({ accessKeyId, secretAccessKey }),
    });
    const catalogue = new Catalogue(direct);
    const pick = <T>(some: readonly T[]): T => some[Math.floor(random() * some.length)];
    const paused = new Set<Immortal>();
    let pauses = 0;
    const sum = (of: 'merged' | 'deleted' | 'folded' | 'lostMerges'): number =>
      [...done.values()].reduce((total, stats) => total + stats[of], 0);
    /** How often what must go well has happened: no idle minute, and where the machine has little CPU to give it takes longer. */
    const happened = (): number[] => [checks, sum('folded'), sum('merged'), sum('deleted'), pauses];
    const endMs = Date.now() + DURATION_MS;
    while ((Date.now() < endMs || happened().includes(0)) && faults.length === 0) {
      await sleep(100);
      const chance = random();
      if (chance < 0.03) pick(writers).signal('SIGKILL');
      else if (chance < 0.04) pick(readers).signal('SIGKILL');
      else if (chance < 0.06) pick(maintainers.filter((one) => !paused.has(one)).concat(maintainers)).signal('SIGKILL');
      else if (chance < 0.08 && paused.size === 0) {
        const one = pick(maintainers);
        paused.add(one);
        pauses++;
        one.signal('SIGSTOP');
        const { child } = one;
        setTimeout(() => {
          child.kill('SIGCONT');
          paused.delete(one);
        }, PAUSE_MS);
      }
      const state = await catalogue.read();
      for (const { key } of state.live.values())
        if (!existsSync(join(data, 'traces/torture', key))) faults.push(`${key} of generation ${state.number} is gone`);
      for (const { message } of state.damaged) faults.push(message);
    }
    await Promise.all(all.map((one) => one.end()));
    expect(faults).toEqual([]);
    for (const one of all) expect(one.stderr).toBe('');

    // Spools of those that were killed last are put by the next that have them.
    proxy.trouble = () => undefined;
    proxy.staleMs = 0;
    const s3 = { region, endpoint, credentials: async () => ({ accessKeyId, secretAccessKey }) };
    for (const spool of spools) {
      const archive = await Archive.open(PLACE, { spool, cacheDirectory: '', s3 });
      await archive.seal();
      await archive.close();
    }
    const last = new BucketMaintainer(direct, { graceMs: 0 });
    await last.pass({ all: true });
    const counts = new Map<string, number>();
    for (const id of await readAll(direct)) counts.set(id, (counts.get(id) ?? 0) + 1);
    const ends = new Map<number, number>();
    for (const { first, end } of sealed) ends.set(first, Math.max(end, ends.get(first) ?? 0));
    const numbers = [...ends].flatMap(([first, end]) => Array.from({ length: end - first }, (_, i) => first + i));
    expect(numbers.filter((n) => numberedTrace(n).some(({ spanId }) => counts.get(spanId) !== 1))).toEqual([]);
    expect([...counts.values()].filter((count) => count > 1)).toEqual([]);
    const lives = (some: readonly Immortal[]): number => some.reduce((total, one) => total + one.lives, 0);
    console.info(
      `${numbers.length} traces sealed in ${sealed.length} seals, ${failedSeals} seals failed; ${checks} checks of ${checked} traces, ${unanswered} unanswered; ` +
        `${sum('folded')} uploads folded, ${sum('merged')} segments merged, ${sum('deleted')} objects deleted, ${sum('lostMerges')} merges lost; ` +
        `lives: ${lives(writers)} of writers, ${lives(readers)} of readers, ${lives(maintainers)} of maintainers; ${pauses} pauses; ${proxy.requests.length} requests`,
    );
    expect(happened()).not.toContain(0);
    direct.close();
  });
});
