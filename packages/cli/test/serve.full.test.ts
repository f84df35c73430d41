// What `spanline serve` has acknowledged is there when it was killed in the middle of it, and bodies that its heap cannot hold end nothing.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ArchivedSpan } from '../../../src/record/archived-span.js';
import { Archive } from '../../archive/src/archive.js';
import { encodeOtlpJson } from '../../archive/src/formats/encode.js';
import { FULL_SPAN } from '../../archive/test/support/any-span.js';
import { buildFirst, type Outcome, spanlineProcess } from './support/spanline.js';

buildFirst();

const spanOf = (n: number): ArchivedSpan => ({
  ...FULL_SPAN,
  traceId: (n + 1).toString(16).padStart(32, '0'),
  parentSpanId: '',
});

interface Running {
  readonly query: string;
  readonly otlp: string;
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly ended: Promise<Outcome>;
}

const start = (directory: string, env: Readonly<Record<string, string>> = {}): Promise<Running> =>
  new Promise((resolve, reject) => {
    const args = ['serve', '--archive', directory, '--port', '0', '--otlp-port', '0', '--json'];
    const ended = spanlineProcess(args, {
      env,
      onOutput: (kill, output) => resolve({ ...JSON.parse(output), kill, ended }),
    });
    ended.then(({ stderr }) => reject(new Error(`it ended before it listened: ${stderr}`)), reject);
  });

test('kill -9 in the middle of it: every acknowledged span is there', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'spanline-serve-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const acknowledged = new Set<number>();
  for (let round = 0; round < 3; round++) {
    const { otlp, kill, ended } = await start(directory);
    let isOver = false;
    const send = async (from: number): Promise<void> => {
      for (let n = from; !isOver; n += 4) {
        try {
          const headers = { 'content-type': 'application/json' };
          const { status } = await fetch(otlp, { method: 'POST', headers, body: encodeOtlpJson([spanOf(n)]) });
          if (status === 200) acknowledged.add(n);
        } catch {
          return;
        }
        if (acknowledged.size >= (round + 1) * 40) kill('SIGKILL');
      }
    };
    await Promise.all([0, 1, 2, 3].map((timeline) => send(round * 10_000 + timeline)));
    isOver = true;
    expect((await ended).signal).toBe('SIGKILL');
  }
  expect(acknowledged.size).toBeGreaterThanOrEqual(120);
  const archive = await Archive.open(directory);
  const ids = [...acknowledged].map((n) => spanOf(n).traceId);
  const found = await archive.traces(ids);
  expect(ids.filter((id) => found.get(id)?.length !== 1)).toEqual([]);
  await archive.close();
});

test('in a heap of 96 MB bodies of very many keys are refused, and counted, and it goes on', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'spanline-serve-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const { query, otlp, kill, ended } = await start(directory, { NODE_OPTIONS: '--max-old-space-size=96' });
  /** Answers that say to come again. */
  let late = 0;
  const post = async (body: string): Promise<number> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(otlp, { method: 'POST', headers, body });
    await answer.arrayBuffer();
    return answer.status;
  };
  // As many as one body may be long, and more than one may be.
  for (const count of [400_000, 1_000_000]) {
    const keys = Array.from({ length: count }, (_, i) => `{"key":"${i.toString(36)}","value":{}}`);
    const { traceId, spanId } = spanOf(0);
    const span = `{"traceId":"${traceId}","spanId":"${spanId}","name":"x","startTimeUnixNano":"1","endTimeUnixNano":"2","attributes":[${keys}]}`;
    const large = `{"resourceSpans":[{"scopeSpans":[{"spans":[${span}]}]}]}`;
    const statuses = await Promise.all(Array.from({ length: 6 }, () => post(large)));
    expect(statuses.every((status) => status === 413 || status === 429)).toBe(true);
    late += statuses.filter((status) => status === 429).length;
  }
  expect(await post(encodeOtlpJson([spanOf(1)]))).toBe(200);
  expect(await (await fetch(`${query}/stats`)).json()).toMatchObject({
    server: { refused: 12, bodiesRefused: late, otlp: { spans: 1 } },
  });
  kill('SIGTERM');
  await ended;
  const archive = await Archive.open(directory, { readOnly: true });
  expect([...(await archive.traces([spanOf(0).traceId, spanOf(1).traceId])).keys()]).toEqual([spanOf(1).traceId]);
  await archive.close();
});
