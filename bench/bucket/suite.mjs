// The bucket suite: how long a trace of twelve services, and a search of one hour by service, duration and a property, take in an archive of a thousand
// segments in an object store behind a link, how many requests and bytes they take, for who has nothing, who has the cards on disk, and who is open.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../scripts/lib/run.mjs';
import { findVersitygw, HOW_TO_GET, startVersitygw } from '../../scripts/lib/versitygw.mjs';
import { bundleFor } from '../lib/bundle.mjs';
import { rowOf } from '../lib/rows.mjs';
import { versionOf } from '../lib/subjects.mjs';

const here = (name) => join(root, 'bench/bucket', name);
const LINK = { rttMs: 40, megabytes: 20 };
/** To make more distinct ones takes two seconds each. */
const FULL = { segments: 1000, distinct: 240, tracesOfSegment: 12_500, rounds: 3, more: 3 };
const QUICK = { segments: 72, distinct: 60, tracesOfSegment: 2400, rounds: 1, more: 2 };

const runStep = async (node, step, settings) => {
  const child = spawn(node, ['--max-old-space-size=3000', here('program.mjs'), step], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
  });
  child.stdin.end(JSON.stringify(settings));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`program.mjs ${step} ended with ${code}`);
  return JSON.parse(output);
};

/** Make the archive, a process on each core; `home` is for what these hand over. */
const makeArchive = async (node, settings, home) => {
  const of = availableParallelism();
  const files = Array.from({ length: of }, (_, index) => join(home, `cards-${index}`));
  const made = await Promise.all(
    files.map((file, index) => runStep(node, 'make', { ...settings, share: { index, of, file } })),
  );
  const bytes = made.reduce((sum, one) => sum + one.bytes, 0);
  return { ...(await runStep(node, 'publish', { ...settings, files })), bytes };
};

/** The address of a link to the server at `port`, and what ends it. */
const startLink = async (port) => {
  const child = fork(here('link.mjs'), [String(port), String(LINK.rttMs), String(LINK.megabytes)]);
  const [ownPort] = await once(child, 'message');
  return { endpoint: `http://127.0.0.1:${ownPort}`, end: () => child.disconnect() };
};

export async function measure(node, { quick, only = /./, log }) {
  const version = versionOf(node);
  const program = findVersitygw();
  if (program === undefined) throw new Error(HOW_TO_GET);
  await bundleFor(here('internals.ts'), 'bucket.js', { packages: 'external' });
  const { rounds, more, ...size } = quick ? QUICK : FULL;
  const home = mkdtempSync(join(tmpdir(), 'spanline-bucket-'));
  const server = await startVersitygw(program, ['traces']);
  const link = await startLink(Number(new URL(server.endpoint).port));
  const results = [];
  try {
    const { region, accessKeyId, secretAccessKey, data } = server;
    const settings = { place: 's3://traces/bench', region, accessKeyId, secretAccessKey, data, ...size };
    log(`Node ${version}: bucket, making ${size.segments} segments`);
    const made = await makeArchive(node, { ...settings, endpoint: server.endpoint }, home);
    const n = `${made.segments} segments`;
    const add = (name, unit, figures) => {
      if (only.test(`${name} spanline`)) results.push(rowOf({ subject: 'spanline', name, n, unit }, figures));
    };
    add('segment-bytes', 'bytes', [made.bytes / size.distinct]);
    add('cards-bytes', 'bytes', [made.packBytes]);
    for (const question of ['trace', 'search']) {
      const figures = { first: [], cold: [], warm: [] };
      for (let round = 0; round < rounds; round++) {
        const cacheDirectory = join(home, `cache-${question}-${round}`);
        mkdirSync(cacheDirectory);
        const asked = { ...settings, endpoint: link.endpoint, cacheDirectory, question };
        const number = 1 + round * (more + 1) * 3;
        for (const kind of ['first', 'cold']) {
          log(`Node ${version}: bucket, ${question}, ${kind}, ${round + 1} of ${rounds}`);
          // Another trace, or tenant: what the one before read of segments is of no use for it.
          const found = await runStep(node, 'read', {
            ...asked,
            number: number + (kind === 'first' ? 0 : more + 1),
            more: kind === 'first' ? 0 : more,
          });
          for (const one of [found.first, ...found.warm])
            if (one.found === 0) throw new Error(`${question} found nothing`);
          figures[kind].push(found.first);
          figures.warm.push(...found.warm);
        }
      }
      for (const [kind, all] of Object.entries(figures)) {
        add(
          `${question}-${kind}`,
          'ms',
          all.map(({ ms }) => ms),
        );
        add(
          `${question}-${kind}-requests`,
          'requests',
          all.map(({ requests }) => requests),
        );
        add(
          `${question}-${kind}-bytes`,
          'bytes',
          all.map(({ bytes }) => bytes),
        );
      }
    }
  } finally {
    link.end();
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  }
  return { version, results };
}
