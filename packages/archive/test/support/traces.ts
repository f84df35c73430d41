// Spans with little in them, of one trace unless they say otherwise, and archives of them.
import { expect } from 'vitest';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import { Archive } from '../../src/archive.js';

const SHOP = { properties: { 'service.name': 'shop' } };
const SCOPE = { name: '', version: '', properties: {} };

/** A span by number, with the number of its parent (0: none), from `at` nanoseconds on. */
export const spanAt = (
  number: number,
  parent: number,
  name: string,
  at: number,
  duration: number,
  more: Partial<ArchivedSpan> = {},
): ArchivedSpan => ({
  traceId: '1'.padStart(32, '0'),
  spanId: number.toString(16).padStart(16, '0'),
  parentSpanId: parent === 0 ? '' : parent.toString(16).padStart(16, '0'),
  traceState: '',
  name,
  kind: 'internal',
  startUnixNs: BigInt(at),
  endUnixNs: BigInt(at + duration),
  status: { code: 'unset', message: '' },
  properties: {},
  events: [],
  links: [],
  resource: SHOP,
  scope: SCOPE,
  ...more,
});

/** Writes the spans into the archive in `directory`, each as a trace that came alone. */
export const fillArchive = async (directory: string, spans: readonly ArchivedSpan[]): Promise<void> => {
  const archive = await Archive.open(directory);
  for (const span of spans) expect(archive.append([span])).toBe(1);
  await archive.close();
};
