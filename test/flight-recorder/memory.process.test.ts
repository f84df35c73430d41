// The ring's bound holds however many spans there are, and the process does not grow.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bundleChild, root, runFile } from '../support/child.js';

const MIB = 1 << 20;

test('twenty million spans: memory is flat, and the ring at most a tenth over its bound', async () => {
  const child = await bundleChild(join(root, 'test/flight-recorder/children/millions.ts'));
  const { code, stdout, stderr } = await runFile(child);
  expect([code, stderr]).toEqual([0, '']);
  const { rss, most, total, spans, failed } = JSON.parse(stdout);
  expect(failed).toBe(0);
  expect(most).toBeLessThan(32 * MIB * 1.1);
  expect(spans).toBeGreaterThan(300_000);
  // What is not held was let go, but for what waits for the next report.
  expect(total).toBeGreaterThan(20_000_000 - 100_000);
  // From the fourth million on.
  expect(Math.max(...rss.slice(2)) - rss[1]).toBeLessThan(40 * MIB);
}, 180_000);
