// A service in which causes of slow requests are planted: each is named, and who only waited is not blamed, without a line of tracing in the service
// and with a trace by hand.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  breakdownIndexOf,
  formatBreakdown,
  readSnapshotFile,
  stalls,
  timeBreakdown,
} from '../../src/flight-recorder/index.js';
import { clockInfo } from '../../src/index.js';
import { root, runFile } from '../support/child.js';
import { CAUSES, evidence, lookAt, namedCauses, type Seen } from './support/planted-causes.mjs';

const directory = mkdtempSync(join(tmpdir(), 'spanline-planted-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const SERVICE = join(root, 'test/flight-recorder/children/planted.mjs');

describe.skipIf(clockInfo().path !== 'fast').each([
  [
    'under register',
    ['--import', 'spanline/register'],
    { SPANLINE_FLIGHT_RECORDER: 'on', OTEL_TRACES_EXPORTER: 'none' },
  ],
  ['traced by hand', [], { PLANTED_BY_HAND: '1' }],
])('a service with planted causes, %s', (how, execArgv, env) => {
  let seen: Seen;

  beforeAll(async () => {
    const file = join(directory, `${how}.flight`);
    const { code, stderr } = await runFile(SERVICE, { execArgv, env: { ...env, FLIGHT_FILE: file } });
    expect([code, stderr]).toEqual([0, '']);
    seen = lookAt(await readSnapshotFile(file), { timeBreakdown, breakdownIndexOf, formatBreakdown, stalls });
  }, 120_000);

  test('every request is there, and the parts of its time add up', () => {
    expect(seen.asked.filter(({ path }) => path === '/fast').length).toBe(186);
    for (const { breakdown } of seen.asked) {
      const { durationUs, ownUs, gcUs, othersUs, untracedUs, shortUs, waitingUs, unknownUs, poolUs } = breakdown;
      expect(ownUs + gcUs + othersUs + untracedUs + shortUs + waitingUs + unknownUs).toBeCloseTo(durationUs, 3);
      expect(poolUs).toBeLessThanOrEqual(waitingUs);
    }
  });

  test.each(CAUSES)('%s', (cause) => {
    expect(namedCauses(seen)[cause], evidence(seen)).toBe(true);
  });
});
