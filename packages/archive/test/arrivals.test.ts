// Whoever follows an archive is told each request once, whatever becomes of the files meanwhile: write-ahead files that grow, become segments and are
// deleted, segments that are merged, programs that live shorter than from one look to the next.

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ArchivedSpan } from '../../../src/record/archived-span.js';
import { scratch } from '../../../test/support/built.js';
import fc from '../../../test/support/fast-check.js';
import { samples } from '../../../test/support/samples.js';
import { Archive } from '../src/archive.js';
import { type Arrivals, Arrivals as BoundedArrivals } from '../src/arrivals.js';
import { DirectoryPlace } from '../src/segment-place.js';
import { SegmentSet } from '../src/segment-set.js';
import { spanAt } from './support/traces.js';

const dir = scratch();
let directories = 0;
const freshDirectory = (): string => join(dir, String(directories++));

let spans = 0;
/** A span of its own trace that is a request and ended just now. */
const request = (name = 'GET /', more: Partial<ArchivedSpan> = {}): ArchivedSpan => {
  spans++;
  const endUnixNs = BigInt(Date.now()) * 1_000_000n;
  const ids = { traceId: spans.toString(16).padStart(32, '0'), spanId: spans.toString(16).padStart(16, '0') };
  return { ...spanAt(1, 0, name, 0, 1000), ...ids, startUnixNs: endUnixNs - 1000n, endUnixNs, ...more };
};

const AGO_MS = 60_000;

/** Trace ids that one look tells. */
const reported = async (arrivals: Arrivals, fromMs = Date.now() - AGO_MS): Promise<string[]> => {
  const ids: string[] = [];
  await arrivals.look(fromMs, ({ traceId }) => ids.push(traceId));
  return ids;
};

describe('what is told', () => {
  test('roots, spans that serve or consume, and those whose parent is in another process; nothing else', async () => {
    const archive = await Archive.open(freshDirectory());
    const parentSpanId = 'f'.repeat(16);
    const kinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
    archive.append([
      request('root', { kind: 'client', status: { code: 'error', message: 'no' } }),
      ...kinds.map((kind) => request(kind, { kind, parentSpanId })),
      request('remote', { parentSpanId, flags: 0x301 }),
      request('local stretch of a remote parent', { parentSpanId, flags: 0x301, isLocal: true }),
      request('child', { parentSpanId, flags: 0x101 }),
      request('local', { parentSpanId, flags: 0x101, isLocal: true }),
    ]);
    const arrivals = archive.arrivals();
    const seen: string[] = [];
    const take = (one: { name: string; service: string; isFailed: boolean; isRoot: boolean }): void => {
      seen.push(`${one.name} of ${one.service}${one.isFailed ? ' failed' : ''}${one.isRoot ? ' root' : ''}`);
    };
    await arrivals.look(0, take);
    const expected = ['root of shop failed root', 'server of shop', 'consumer of shop', 'remote of shop'];
    expect(seen).toEqual([...expected, 'local stretch of a remote parent of shop']);
    arrivals.close();
    // The same from a segment.
    await archive.seal();
    seen.length = 0;
    const later = archive.arrivals();
    await later.look(0, take);
    expect(seen.toSorted()).toEqual([...expected, 'local stretch of a remote parent of shop'].toSorted());
    later.close();
    await archive.close();
  });

  test('each request once, whatever becomes of the files between two looks', async () => {
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ kind: fc.constant('append' as const), count: fc.integer({ min: 1, max: 40 }) }),
      },
      { weight: 2, arbitrary: fc.constant({ kind: 'look' as const }) },
      { weight: 1, arbitrary: fc.constant({ kind: 'seal' as const }) },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('visitor' as const), count: fc.integer({ min: 1, max: 5 }) }),
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const directory = freshDirectory();
        const writer = await Archive.open(directory, { maintain: false, worker: false });
        const reader = await Archive.open(directory, { readOnly: true });
        const arrivals = reader.arrivals();
        const expected: string[] = [];
        const seen: string[] = [];
        const append = (archive: Archive, count: number): void => {
          const some = Array.from({ length: count }, () => request());
          expected.push(...some.map(({ traceId }) => traceId));
          archive.append(some);
        };
        for (const one of steps) {
          if (one.kind === 'append') append(writer, one.count);
          else if (one.kind === 'seal') await writer.seal();
          else if (one.kind === 'look') seen.push(...(await reported(arrivals)));
          else {
            const visitor = await Archive.open(directory, { maintain: false, worker: false });
            append(visitor, one.count);
            await visitor.close();
          }
        }
        seen.push(...(await reported(arrivals)));
        // Merging changes no request.
        await writer.seal();
        await writer.compact();
        seen.push(...(await reported(arrivals)));
        expect(seen.toSorted()).toEqual(expected.toSorted());
        arrivals.close();
        await writer.close();
        await reader.close();
      }),
      { numRuns: samples(8, 40, 400) },
    );
  });

  test('a first look reads the segments that reach into the time asked for, the newest first, as many spans as it may', async () => {
    const directory = freshDirectory();
    const archive = await Archive.open(directory, { maintain: false });
    const names = ['old', 'middle', 'new'];
    const endsMs = names.map((_, i) => Date.now() - 50_000 + i * 10_000);
    for (const [i, name] of names.entries()) {
      const endUnixNs = BigInt(endsMs[i]) * 1_000_000n;
      archive.append(Array.from({ length: 10 }, () => request(name, { startUnixNs: endUnixNs, endUnixNs })));
      await archive.seal();
    }
    const reportedNames = async (arrivals: Arrivals, fromMs: number): Promise<string[]> => {
      const seen = new Set<string>();
      await arrivals.look(fromMs, ({ name }) => seen.add(name));
      arrivals.close();
      return [...seen];
    };
    const all = archive.arrivals();
    expect(await reportedNames(all, 0)).toEqual(['new', 'middle', 'old']);
    expect(all.sinceMs).toBe(0);
    expect(await reportedNames(archive.arrivals(), endsMs[1])).toEqual(['new', 'middle']);
    const bounded = new BoundedArrivals(new SegmentSet(new DirectoryPlace(directory), 10, 1_000_000), 15);
    expect(await reportedNames(bounded, 0)).toEqual(['new', 'middle']);
    // Names of segments have the next whole millisecond.
    expect(bounded.sinceMs).toBe(endsMs[1] + 1);
    // Of a segment that holds older ones too, only what is of that time.
    await archive.compact();
    expect((await archive.stats()).segments).toBe(1);
    expect((await reportedNames(archive.arrivals(), endsMs[1])).toSorted()).toEqual(['middle', 'new']);
    await archive.close();
  });
});
