// Archives of older versions are read, verified, appended to, taken over and compacted, and no span of them is lost or changed.
import { readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import zlib from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Archive, type ArchivedSpan, Segment, UnsupportedVersionError } from '../../src/archive/index.js';
import { OLD_SPANS, OLD_TRACES } from './support/old-spans.js';
import { oldBytes, unpack } from './support/unpack.js';

const byId = (spans: Iterable<ArchivedSpan>): ArchivedSpan[] =>
  [...spans].sort((a, b) => (a.traceId + a.spanId < b.traceId + b.spanId ? -1 : 1));

const allOf = async (traces: AsyncIterable<readonly ArchivedSpan[]>): Promise<ArchivedSpan[]> => {
  const all: ArchivedSpan[] = [];
  for await (const trace of traces) all.push(...trace);
  return byId(all);
};

const open = async (directory: string, readOnly: boolean): Promise<Archive> => {
  const archive = await Archive.open(directory, { readOnly, worker: false });
  onTestFinished(() => archive.close());
  return archive;
};

const hasZstd = 'zstdDecompressSync' in zlib;

describe.each(['none', 'deflate', 'zstd'])('a segment, %s', (codec) => {
  const bytes = oldBytes(`segment-${codec}.spans`);

  test.runIf(codec !== 'zstd' || hasZstd)('has all spans as they were', async () => {
    const segment = await Segment.open(bytes);
    expect(await allOf(segment.scan())).toEqual(byId(OLD_SPANS));
    const traces = await segment.traces([...OLD_TRACES.keys()]);
    for (const [id, spans] of OLD_TRACES) {
      expect(byId(traces.get(id) ?? [])).toEqual(byId(spans));
      expect(traces.get(id)?.[0]).toEqual(spans[0]);
    }
    expect(await segment.faults()).toEqual([]);
    expect(segment.info.replaces).toEqual(
      codec === 'deflate' ? ['seg-1-2-0123456789ab.spans', 'seg-1-3-0123456789ac.spans'] : [],
    );
  });

  test.runIf(codec !== 'zstd' || hasZstd)('answers searches', async () => {
    const segment = await Segment.open(bytes);
    const failed = await segment.summaries({ service: 'shop', status: 'error', name: 'POST /order' });
    expect(failed.map(({ traceId, spanCount, errorCount }) => [traceId.slice(-2), spanCount, errorCount])).toEqual([
      ['19', 4, 1],
      ['14', 4, 1],
    ]);
    const [found] = await segment.summaries({ properties: { order: '7' } });
    expect(found.traceId.slice(-2)).toBe('17');
  });

  test.runIf(codec === 'zstd' && !hasZstd)('says which Node reads it', async () => {
    await expect(Segment.open(bytes).then((segment) => allOf(segment.scan()))).rejects.toThrow(UnsupportedVersionError);
  });
});

describe('an archive', () => {
  test('that is only read', async () => {
    const directory = unpack('archive');
    const before = readdirSync(directory);
    const archive = await open(directory, true);
    expect(await allOf(archive.scan())).toEqual(byId(OLD_SPANS));
    for (const [id, spans] of OLD_TRACES) expect(byId(await archive.trace(id))).toEqual(byId(spans));
    expect(await archive.services()).toEqual(['shop', 'store']);
    const { segments, walFiles, damaged } = await archive.stats();
    expect({ segments, walFiles, damaged }).toEqual({ segments: 2, walFiles: 2, damaged: [] });
    expect(readdirSync(directory)).toEqual(before);
  });

  test('whose writers are gone, taken over, appended to and compacted', async () => {
    const directory = unpack('archive');
    const archive = await open(directory, false);
    const stats = await archive.stats();
    expect(stats).toMatchObject({ recoveredFiles: 2, recoveredSpans: 32, tornBytes: 0, damaged: [] });
    const [old] = OLD_SPANS;
    const added: ArchivedSpan = { ...old, traceId: 'ab'.repeat(16), links: [] };
    expect(archive.append([added])).toBe(1);
    await archive.seal();
    await archive.compact();
    const expected = byId([...OLD_SPANS, added]);
    expect(await allOf(archive.scan())).toEqual(expected);
    await archive.close();
    const names = readdirSync(directory).filter((name) => name.endsWith('.spans'));
    expect(names).toHaveLength(1);
    const segment = await Segment.open(join(directory, names[0]));
    onTestFinished(() => segment.close());
    expect(await allOf(segment.scan())).toEqual(expected);
    expect(await segment.faults()).toEqual([]);
  });

  test('whose writers may still live is left to them', async () => {
    const directory = unpack('archive');
    const wals = readdirSync(directory).filter((name) => name.startsWith('wal-'));
    // As files of another host that were touched just now.
    const now = new Date();
    for (const name of wals) utimesSync(join(directory, name), now, now);
    const archive = await open(directory, true);
    expect(await allOf(archive.scan())).toEqual(byId(OLD_SPANS));
    for (const name of wals) expect(statSync(join(directory, name)).size).toBeGreaterThan(1000);
  });
});
