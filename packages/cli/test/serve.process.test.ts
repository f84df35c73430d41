// `spanline serve` keeps what it acknowledges, through Ctrl-C, answers both query APIs from it, and refuses to start where it would be open to
// strangers. What a killed one keeps is in serve.full.test.ts.
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ReportError } from '../../../src/collector/reporter.js';
import { OtlpReporter } from '../../../src/exporters/otlp.js';
import type { ArchivedSpan } from '../../../src/record/archived-span.js';
import { batchOf, randomTraces } from '../../../test/exporters/support/records.js';
import { Archive } from '../../archive/src/archive.js';
import { encodeOtlpJson } from '../../archive/src/formats/encode.js';
import { decodeOtlpJson } from '../../archive/src/formats/otlp/read-json.js';
import { FULL_SPAN } from '../../archive/test/support/any-span.js';
import { type Outcome, spanline } from './support/spanline.js';

const NOTHING = { SPANLINE_ARCHIVE: '', SPANLINE_TOKEN: '' };
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'spanline-serve-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const run = (args: readonly string[]): Promise<Outcome> => spanline(['serve', ...args], { env: NOTHING });

interface Running {
  readonly query: string;
  readonly otlp: string;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** What it has left. */
  readonly ended: Promise<Outcome>;
}

/** A server of the directory on free ports. */
const start = (args: readonly string[] = [], env: Record<string, string> = {}): Promise<Running> =>
  new Promise((resolve, reject) => {
    const all = ['serve', '--archive', directory, '--port', '0', '--otlp-port', '0', '--json', ...args];
    const ended = spanline(all, {
      env: { ...NOTHING, ...env },
      onOutput: (kill, output) => resolve({ ...JSON.parse(output), kill, ended }),
    });
    ended.then(({ stderr }) => reject(new Error(`it ended before it listened: ${stderr}`)), reject);
  });

const spanOf = (n: number): ArchivedSpan => ({
  ...FULL_SPAN,
  traceId: (n + 1).toString(16).padStart(32, '0'),
  parentSpanId: '',
  startUnixNs: FULL_SPAN.startUnixNs + BigInt(n),
  endUnixNs: FULL_SPAN.endUnixNs + BigInt(n),
});
const post = (otlp: string, spans: readonly ArchivedSpan[], headers: Record<string, string> = {}) =>
  fetch(otlp, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: encodeOtlpJson(spans),
  });

const readBack = async (
  query: string,
  traceId: string,
  headers: Record<string, string> = {},
): Promise<ArchivedSpan[]> => {
  const answer = await fetch(`${query}/api/v3/traces/${traceId}`, { headers });
  if (answer.status === 404) return [];
  // To parse it and write it again would make minus zero a zero.
  const text = (await answer.text()).replaceAll('"doubleValue":-0', '"doubleValue":"-0"');
  const { result } = JSON.parse(text) as { result: object };
  return decodeOtlpJson(Buffer.from(JSON.stringify(result))).spans;
};

describe('serving', () => {
  test('the page is under /ui of the query port, over the same archive, and behind the token', async () => {
    const { kill, query, otlp, ended } = await start(['--token', 'a-long-token']);
    const headers = { authorization: 'Bearer a-long-token' };
    expect((await post(otlp, [spanOf(7)], headers)).status).toBe(200);
    expect(await (await fetch(`${query}/ui`)).text()).toContain('<div id="app">');
    expect((await fetch(`${query}/ui/api/traces`)).status).toBe(401);
    const { traces } = (await (await fetch(`${query}/ui/api/traces`, { headers })).json()) as { traces: object[] };
    expect(traces).toMatchObject([{ traceId: spanOf(7).traceId }]);
    expect((await fetch(`${new URL(otlp).origin}/ui`, { headers })).status).toBe(404);
    kill('SIGINT');
    expect((await ended).code).toBe(0);
  });

  test('what is sent is read back, also by the next one; Ctrl-C ends it in order', async () => {
    const first = await start();
    expect((await post(first.otlp, [spanOf(1), spanOf(2)])).status).toBe(200);
    expect(await readBack(first.query, spanOf(1).traceId)).toEqual([spanOf(1)]);
    expect(await (await fetch(`${first.query}/api/services`)).json()).toMatchObject({ data: ['shop'] });
    expect((await post(`${first.query}/v1/traces`, [spanOf(3)])).status).toBe(200);
    expect(await readBack(first.query, spanOf(3).traceId)).toEqual([spanOf(3)]);
    first.kill('SIGINT');
    expect((await first.ended).code).toBe(0);
    // Everything is in a segment: nothing has to be recovered.
    expect(readdirSync(directory).every((name) => name.endsWith('.spans'))).toBe(true);
    const second = await start(['--read-only']);
    expect(second.otlp).toBeUndefined();
    expect(await readBack(second.query, spanOf(2).traceId)).toEqual([spanOf(2)]);
    second.kill('SIGTERM');
    expect((await second.ended).code).toBe(0);
  });

  test('SIGTERM while our exporter sends: what was told to be kept is there, and what was not is told too', async () => {
    const { query, otlp, kill, ended } = await start();
    const reporter = new OtlpReporter({ endpoint: otlp, timeoutMs: 5000 });
    const traces = randomTraces(11, 40_000, 20);
    const kept: string[] = [];
    for (const [i, trace] of traces.entries()) {
      if (i === 60) kill('SIGTERM');
      try {
        await reporter.report(batchOf([trace]));
        kept.push(trace[0].traceId);
      } catch (error) {
        expect(error).toBeInstanceOf(ReportError);
        break;
      }
    }
    await reporter.shutdown();
    expect((await ended).code).toBe(0);
    expect(query).toMatch(/^http/);
    expect(kept.length).toBeGreaterThanOrEqual(60);
    expect(kept.length).toBeLessThan(traces.length);
    const archive = await Archive.open(directory, { readOnly: true });
    const found = await archive.traces(kept);
    for (const trace of traces.slice(0, kept.length)) expect(found.get(trace[0].traceId)).toHaveLength(trace.length);
    await archive.close();
  });

  /** The archive with a segment of one trace that is whole, and of another that `damage` changed. */
  const damagedSegment = async (damage: (bytes: Buffer) => Buffer): Promise<string> => {
    const names: string[] = [];
    for (const n of [1, 100]) {
      const archive = await Archive.open(directory);
      const last = { ...spanOf(n), startUnixNs: BigInt(n) * 10n ** 15n, endUnixNs: BigInt(n) * 10n ** 15n + 1n };
      archive.append([last]);
      await archive.close();
      names.push(...readdirSync(directory).filter((name) => name.endsWith('.spans') && !names.includes(name)));
    }
    const file = join(directory, names[1]);
    writeFileSync(file, damage(readFileSync(file)));
    return names[1];
  };

  test.each([
    ['a segment that cannot be opened', (bytes: Buffer) => bytes.subarray(0, bytes.length - 7)],
    ['a segment without its head', (bytes: Buffer) => Buffer.concat([Buffer.alloc(16), bytes.subarray(16)])],
  ])('%s is told at the start and in answers, and the exit code says so', async (_, damage) => {
    const name = await damagedSegment(damage);
    const { query, kill, ended } = await start(['--read-only']);
    expect(await readBack(query, spanOf(1).traceId)).toHaveLength(1);
    const answer = await fetch(`${query}/api/traces/${spanOf(100).traceId}`);
    expect(answer.status).toBe(500);
    expect(await answer.text()).toContain(name);
    kill('SIGTERM');
    const { code, stderr } = await ended;
    expect(code).toBe(3);
    expect(stderr.split('\n').filter((line) => line.includes(name))).toEqual([
      expect.stringContaining('cannot be read, or not whole; the rest answers'),
    ]);
  });

  test('parents in a circle and parents of oneself are data', async () => {
    const { query, otlp, kill, ended } = await start();
    const [a, b, c] = ['000000000000000a', '000000000000000b', '000000000000000c'];
    const circle = [
      { ...spanOf(1), spanId: a, parentSpanId: b },
      { ...spanOf(1), spanId: b, parentSpanId: a },
      { ...spanOf(1), spanId: c, parentSpanId: c },
    ];
    expect((await post(otlp, circle)).status).toBe(200);
    const bySpan = (spans: ArchivedSpan[]) =>
      spans.map(({ spanId, parentSpanId }) => `${spanId}<${parentSpanId}`).sort();
    expect(bySpan(await readBack(query, spanOf(1).traceId))).toEqual(bySpan(circle));
    kill('SIGINT');
    expect((await ended).code).toBe(0);
    const archive = await Archive.open(directory, { readOnly: true });
    expect(bySpan(await archive.trace(spanOf(1).traceId))).toEqual(bySpan(circle));
    await archive.close();
  });

  test('one port for both, with a token of the environment', async () => {
    const env = { SPANLINE_TOKEN: 'correct-horse-battery' };
    const headers = { authorization: 'Bearer correct-horse-battery' };
    const { query, kill, ended } = await start(['--host', '0.0.0.0', '--otlp-port', 'off'], env);
    const local = query.replace('0.0.0.0', '127.0.0.1');
    expect((await fetch(`${local}/api/services`)).status).toBe(401);
    expect((await fetch(`${local}/api/services`, { headers })).status).toBe(200);
    kill('SIGINT');
    expect((await ended).code).toBe(0);
    const { port } = new URL(query);
    const both = await start(['--port', port, '--otlp-port', port]);
    expect(both.otlp).toBe(`${both.query}/v1/traces`);
    expect((await post(both.otlp, [spanOf(1)])).status).toBe(200);
    expect(await readBack(both.query, spanOf(1).traceId)).toHaveLength(1);
    both.kill('SIGINT');
    expect((await both.ended).code).toBe(0);
  });
});

describe('refusing', () => {
  test('strangers without a token', async () => {
    const { code, stdout, stderr } = await run(['--archive', directory, '--host', '0.0.0.0', '--port', '0']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('token');
  });

  test('a port that is taken: the one that was opened is closed again', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const { code, stderr } = await run(['--archive', directory, '--port', '0', '--otlp-port', String(port)]);
    taken.close();
    expect(code).toBe(3);
    expect(stderr).toMatch(/another program listens there/);
  });

  test.each([
    [[]],
    [['--archive', 'x', '--port', '70000']],
    [['--archive', 'x', '--otlp-port', 'on']],
    [['--archive', 'x', '--nonsense']],
  ])('wrong usage: %j', async (args) => {
    const { code, stdout } = await run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });
});
