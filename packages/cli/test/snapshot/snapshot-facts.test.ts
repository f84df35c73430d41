// What is said of a trace does not depend on the order in which its spans come out of a snapshot.
import { expect, test } from 'vitest';
import type { Snapshot, SnapshotTrace } from '../../../../src/flight-recorder/index.js';
import { snapshotFacts } from '../../src/snapshot/show-commands.js';

const span = (name: string, parentSpanId: string, startUnixNs: bigint) => ({
  record: { name, parentSpanId, startUnixNs, endUnixNs: 900n, status: { code: 'unset' } },
  isOpen: false,
});

const factsOf = (spans: readonly object[]) => {
  const trace = { traceId: 'a'.repeat(32), spans, isSampled: true } as unknown as SnapshotTrace;
  const snapshot = { traces: () => [trace], timeline: [], resource: { serviceName: 'shop' }, takenUnixUs: 0 };
  return snapshotFacts(snapshot as unknown as Snapshot, 1).slowest[0];
};

test.each([
  ['that began later', 500n],
  ['that began in the same nanosecond', 100n],
  ['that seems to have begun a nanosecond earlier', 99n],
])('a trace has the name of its root, also behind a child %s', (_, childStart) => {
  const [root, child] = [span('GET /', '', 100n), span('parse', 'b'.repeat(16), childStart)];
  expect(factsOf([root, child])).toMatchObject({
    name: 'GET /',
    durationNs: Number(900n - (childStart < 100n ? childStart : 100n)),
  });
  expect(factsOf([child, root])).toEqual(factsOf([root, child]));
});
