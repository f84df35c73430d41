// The ring's bound holds however many spans there are, and the process does not grow.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bundleChild, root, runFile } from '../support/child.js';
import { samples } from '../support/samples.js';

const MIB = 1 << 20;
const MILLION = 1_000_000;
const RING = 32 * MIB;
const MILLIONS = samples(8, 8, 20);

test(`${MILLIONS} million spans: memory is flat, and the ring at maxBytes a tenth over its bound`, async () => {
  const child = await bundleChild(join(root, 'test/flight-recorder/children/millions.ts'));
  const { code, stdout, stderr } = await runFile(child, {
    execArgv: ['--expose-gc'],
    env: { FLIGHT_SPANS: String(MILLIONS * MILLION) },
  });
  expect([code, stderr]).toEqual([0, '']);
  const { held: buffered, rss, maxBytes, total, spans, failed } = JSON.parse(stdout);
  expect(failed).toBe(0);
  expect(maxBytes).toBeLessThan(RING * 1.1);
  expect(spans).toBeGreaterThan(300_000);
  // What is not held was let go, but for what waits for the next report.
  expect(total).toBeGreaterThan(MILLIONS * MILLION - 100_000);
  // From the second million on, when the ring is full, six and more millions: what is alive may differ by the tenth of the ring and by what is pooled
  // (16 chunks of 100 kB), 5 MB. An object a trace, of 24 bytes and a pointer to it, would be 600,000 * 32 = 19 MB, one a span 190 MB.
  expect(Math.max(...buffered.slice(2)) - buffered[1]).toBeLessThan(8 * MIB);
  // Memory that V8 does not know of: an allocation of the least size, 32 bytes, a span would be 190 MB; young objects that wait for their collection
  // take 48 MiB at maxBytes (three halves of 16).
  expect(Math.max(...rss.slice(2)) - rss[1]).toBeLessThan(64 * MIB);
}, 180_000);
