// `spanline stalls` names who stalled the event loop of each process and who waited, and `spanline trace show` says below slow spans where their time
// went; without a timeline neither guesses.
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { TimelineRow } from '../../../src/flight-recorder/timeline/timeline-row.js';
import type { ArchivedResource, ArchivedSpan } from '../../../src/record/archived-span.js';
import { Archive } from '../../archive/src/archive.js';
import { spanAt } from '../../archive/test/support/traces.js';
import { type Outcome, scratch, spanline } from './support/spanline.js';

const dir = scratch();
const archive = join(dir, 'archive');
const bare = join(dir, 'bare');

const T0_MS = Date.UTC(2026, 0, 31, 12);
const us = (ms: number): number => (T0_MS + ms) * 1000;
const process = (pid: number): ArchivedResource => ({ properties: { 'service.name': 'shop', 'process.pid': pid } });

/** Of trace `trace`, from and for so many milliseconds. */
const at = (
  trace: string,
  number: number,
  parent: number,
  name: string,
  [from, length]: readonly [number, number],
  more: Partial<ArchivedSpan> = {},
): ArchivedSpan => {
  const span = spanAt(number, parent, name, 0, length * 1e6, { resource: process(1), ...more });
  const startUnixNs = BigInt(T0_MS + from) * 1_000_000n;
  return { ...span, traceId: trace.repeat(32), startUnixNs, endUnixNs: startUnixNs + span.endUnixNs };
};

const CART = at('a', 1, 0, 'GET /cart', [0, 120]);
const UPLOAD = at('b', 1, 0, 'POST /import', [5, 85]);
const SPANS = [
  CART,
  at('a', 2, 1, 'render', [100, 15], { isLocal: true }),
  at('a', 3, 1, 'short', [1, 0.5]),
  UPLOAD,
  at('c', 1, 0, 'GET /health', [50, 45]),
  // Of another process: it had no part in this.
  at('d', 1, 0, 'GET /other', [0, 120], { resource: process(2) }),
];

const busy = (from: number, to: number, parts: TimelineRow['parts']): TimelineRow => ({
  ...{ kind: 'busy', startUs: us(from), endUs: us(to), detail: '' },
  parts,
});
const part = (
  from: number,
  to: number,
  { traceId, spanId, name }: Partial<ArchivedSpan> = {},
  frames: string[] = [],
) => ({
  ...{ startUs: us(from), endUs: us(to), traceId: traceId ?? '', spanId: spanId ?? '', name: name ?? '' },
  frames,
});
const ROWS: readonly TimelineRow[] = [
  busy(10, 90, [part(10, 83, UPLOAD), part(83, 90, {}, ['tick app.js:7'])]),
  { kind: 'gc', startUs: us(20), endUs: us(31), detail: 'mark-compact', parts: [] },
];

beforeAll(async () => {
  const filled = await Archive.open(archive);
  filled.append(SPANS);
  filled.appendTimeline(ROWS, process(1), us(-1000), us(1000));
  filled.appendTimeline([busy(300, 330, [])], process(2), us(-1000), us(1000));
  await filled.close();
  const empty = await Archive.open(bare);
  empty.append(SPANS);
  await empty.close();
});

const run = (args: readonly string[], place = archive): Promise<Outcome> =>
  spanline([...args, '-a', place], { env: { NO_COLOR: '1' } });

const WORST = `2026-01-31 12:00:00.010  80.0 ms  shop 1
  loop: POST /import [bbbbbbbb] 62.0 ms, gc 11.0 ms, untraced 7.00 ms (tick app.js:7 7.00 ms)
  3 traces waited 138 ms in all: GET /cart [aaaaaaaa] 80.0 ms, GET /health [cccccccc] 40.0 ms, POST /import [bbbbbbbb] 18.0 ms
`;
const NEXT = `2026-01-31 12:00:00.300  30.0 ms  shop 2
  loop: unknown 30.0 ms
  nobody waited
`;

test('the worst stalls, the longest first, each with its process', async () => {
  expect(await run(['stalls'])).toMatchObject({ code: 0, stdout: WORST + NEXT, stderr: '' });
  expect(await run(['stalls', '--limit', '1'])).toMatchObject({ code: 0, stdout: WORST });
  expect(await run(['stalls', '--from', '2026-01-31T12:00:00.2Z'])).toMatchObject({ code: 0, stdout: NEXT });
});

test('for a program', async () => {
  const { code, stdout } = await run(['stalls', '--json']);
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      process: { 'service.name': 'shop', 'process.pid': '1' },
      startUs: us(10),
      durationUs: 80_000,
      holders: [{ name: 'POST /import', us: 62_000 }],
      waitedUs: 138_000,
    },
    { durationUs: 30_000, unknownUs: 30_000, waiterCount: 0 },
  ]);
});

test('nothing found is exit code 1, and says why', async () => {
  expect(await run(['stalls'], bare)).toMatchObject({
    code: 1,
    stdout: '',
    stderr:
      'spanline: the archive has no timeline of that time: a process keeps its own there that runs under spanline run --archive DIR, or with SPANLINE_ARCHIVE=DIR under spanline/register\n',
  });
  expect(await run(['stalls', '--from', '2026-01-31T12:00:00.5Z'])).toMatchObject({
    ...{ code: 1, stdout: '' },
    stderr: 'spanline: there was no stall in that time\n',
  });
  expect(await run(['stalls', '--limit', '0'])).toMatchObject({ code: 2, stdout: '' });
  expect(await run(['stalls'], join(dir, 'none'))).toMatchObject({ code: 3, stdout: '' });
});

test('a waterfall says below slow spans where their time went', async () => {
  const { stdout } = await run(['trace', 'show', CART.traceId, '--width', '110']);
  const reported = stdout.split('\n').filter((line) => line.includes(' = '));
  expect(reported.map((line) => line.replace(/^[^\d]*/, ''))).toEqual([
    '120 ms = own 15 + loop 80 (POST /import 62, gc 11, untraced 7) + waiting 25',
    '15.0 ms = own 15.0',
  ]);
  const { breakdowns } = JSON.parse((await run(['trace', 'show', CART.traceId, '--json'])).stdout);
  expect(breakdowns).toMatchObject([
    { spanId: CART.spanId, name: 'GET /cart', durationUs: 120_000, ownUs: 15_000, gcUs: 11_000, waitingUs: 25_000 },
    { name: 'render', ownUs: 15_000 },
  ]);
});

test('without a timeline a waterfall is as it was, and a trace of another process has that one alone', async () => {
  expect((await run(['trace', 'show', CART.traceId], bare)).stdout).not.toContain(' = ');
  expect(JSON.parse((await run(['trace', 'show', CART.traceId, '--json'], bare)).stdout).breakdowns).toEqual([]);
  expect((await run(['trace', 'show', 'd'.repeat(32)])).stdout).toContain('120 ms = waiting 120');
});
