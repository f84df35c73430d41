// Cards of segments that are nowhere: what a catalogue keeps, without what it stands for.
import type { BucketCard } from '../../../src/bucket/card.js';
import { freshKey, segmentKey } from '../../../src/bucket/keys.js';
import { TraceFilter } from '../../../src/bucket/trace-filter.js';
import { segmentName } from '../../../src/directory.js';

const MS = 1_000_000n;

/** The name of segment number `n`. */
export const nameOf = (n: number, isSorted = true): string =>
  segmentName(BigInt(n) * 1000n * MS, BigInt(n + 1) * 1000n * MS, n.toString(16).padStart(12, '0'), isSorted);

/** Words of the ids of its traces. */
export const wordsOf = (n: number): number[] => Array.from({ length: 1 + (n % 40) }, (_, i) => (n * 1000 + i) >>> 0);

/** Its card: of an upload in that hour, or of a merged segment. */
export const cardOf = (n: number, hour?: string): BucketCard => ({
  name: nameOf(n),
  key: hour === undefined ? segmentKey(nameOf(n)) : freshKey(hour, nameOf(n)),
  etag: `"${n}"`,
  isSorted: true,
  uploadedMs: [n, n + 1],
  info: {
    spanCount: n,
    traceCount: n,
    startUnixNs: BigInt(n) * 1000n * MS,
    endUnixNs: BigInt(n + 1) * 1000n * MS - MS,
    services: ['', `service ${n % 5}`],
    operations: new Map([
      ['', []],
      [`service ${n % 5}`, [{ name: `GET /${n % 7}`, kind: 'server' }]],
    ]),
    listsAllOperations: n % 2 === 0,
    doubles: n % 3,
    replaces: n % 4 === 0 ? [nameOf(n + 1_000_000)] : [],
    bytes: 1000 + n,
  },
  filter: n % 10 === 9 ? undefined : TraceFilter.of(wordsOf(n)),
  headBytes: 100,
  head: n % 3 === 0 ? Buffer.alloc(100, n) : undefined,
  headIn: undefined,
});
