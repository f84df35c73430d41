// Spans of one trace that share an id are all kept, in the same tree wherever and in whatever order they come, and however often: the halves of a
// call, as Zipkin has them, and those of several services.
import { describe, expect, test } from 'vitest';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import { walkTree } from '../../../../src/record/tree.js';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import type { Archive } from '../../src/archive.js';
import { traceTrees } from '../../src/trace-trees.js';
import { byId, span, spanIdOf } from '../segment/support/segments.js';
import { allSpans, newDirectory, openArchive } from './support/directory.js';

const of = (service: string, name: string, changes: Partial<ArchivedSpan>): ArchivedSpan =>
  span({ name, resource: { properties: { 'service.name': service } }, ...changes });

const ROOT = of('web', 'GET /', { spanId: spanIdOf(1), kind: 'server' });
const CLIENT = of('web', 'post', { spanId: spanIdOf(2), parentSpanId: spanIdOf(1), kind: 'client' });
const SERVER = of('bank', 'post /pay', { spanId: spanIdOf(2), parentSpanId: spanIdOf(1), kind: 'server' });
const RETRY = of('web', 'wait', { spanId: spanIdOf(3), parentSpanId: spanIdOf(2), kind: 'internal' });
const LOCK = of('bank', 'lock', { spanId: spanIdOf(4), parentSpanId: spanIdOf(2), kind: 'unspecified' });
/** A call below a call, its halves under one id too. */
const ASK = of('bank', 'ask', { spanId: spanIdOf(5), parentSpanId: spanIdOf(2), kind: 'client' });
const ANSWER = of('rates', 'answer', { spanId: spanIdOf(5), parentSpanId: spanIdOf(2), kind: 'server' });
const ALL = [ROOT, CLIENT, SERVER, RETRY, LOCK, ASK, ANSWER];

const TREE = `
web GET /
  web post
    web wait
    bank post /pay
      bank lock
      bank ask
        rates answer`;

const drawn = (spans: readonly ArchivedSpan[]): string => {
  let text = '';
  // Siblings start at one time here: in the order of names, not of ids, which are made up.
  const trees = traceTrees(
    spans.map((one) => ({
      ...one,
      startUnixNs: BigInt(ALL.findIndex(({ name }) => name === one.name) + (one.name === 'wait' ? -2 : 0)),
    })),
  );
  walkTree(trees, ({ span: { name, resource } }, depth) => {
    text += `\n${'  '.repeat(depth)}${String(resource.properties['service.name'])} ${name}`;
  });
  return text;
};

const expectWhole = async (archive: Archive): Promise<void> => {
  const spans = await archive.trace(ROOT.traceId);
  expect(drawn(spans ?? [])).toBe(TREE);
  expect(await allSpans(archive)).toEqual(byId(spans ?? []));
  expect(await archive.search()).toMatchObject([{ spanCount: ALL.length, name: 'GET /', isComplete: true }]);
  for (const { name } of ALL) expect(await archive.search({ name })).toMatchObject([{ spanCount: ALL.length }]);
};

describe('the halves of a call', () => {
  test('held in memory, in a segment, and in one that is merged', async () => {
    const archive = await openArchive(newDirectory());
    archive.append(ALL);
    await expectWhole(archive);
    const buffered = await archive.trace(ROOT.traceId);
    await archive.seal();
    expect(byId((await archive.trace(ROOT.traceId)) ?? [])).toEqual(byId(buffered ?? []));
    archive.append(ALL);
    await expectWhole(archive);
    await archive.compact();
    await expectWhole(archive);
    expect((await archive.stats()).spans).toBe(ALL.length);
  });

  test('the caller keeps its id, the rest follows from it', async () => {
    const archive = await openArchive(newDirectory());
    archive.append([SERVER, CLIENT, LOCK]);
    const spans = (await archive.trace(ROOT.traceId)) ?? [];
    const ids = Object.fromEntries(spans.map(({ name, spanId }) => [name, spanId]));
    expect(ids.post).toBe(CLIENT.spanId);
    expect(spans).toMatchObject([
      CLIENT,
      { name: SERVER.name, parentSpanId: CLIENT.spanId },
      { parentSpanId: ids['post /pay'] },
    ]);
  });

  test('in any order, in any number of files, and twice', async () => {
    const dealt = fc.array(fc.record({ which: fc.nat(ALL.length - 1), seals: fc.boolean() }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(ALL, { minLength: ALL.length }),
        dealt,
        fc.boolean(),
        async (order, again, merges) => {
          const archive = await openArchive(newDirectory(), { worker: false });
          for (const [i, one] of order.entries()) {
            archive.append([one]);
            if (again[i]?.seals) await archive.seal();
          }
          await expectWhole(archive);
          for (const { which, seals } of again) {
            archive.append([ALL[which]]);
            if (seals) await archive.seal();
          }
          await expectWhole(archive);
          if (merges) await archive.compact();
          await expectWhole(archive);
          await archive.close();
        },
      ),
      { numRuns: samples(3, 8, 20) },
    );
  });
});

test('spans of several services under one id are all kept; two versions of one are one', async () => {
  const archive = await openArchive(newDirectory());
  const [a, b] = ['a', 'b'].map((service) => of(service, service, { kind: 'server', parentSpanId: spanIdOf(9) }));
  archive.append([b]);
  await archive.seal();
  archive.append([a, { ...b, name: 'b, named later' }]);
  const spans = byId((await archive.trace(a.traceId)) ?? []);
  expect(spans.map(({ name, parentSpanId }) => [name, parentSpanId]).sort()).toEqual([
    ['a', spanIdOf(9)],
    ['b, named later', spanIdOf(9)],
  ]);
  expect(spans.find(({ name }) => name === 'a')?.spanId).toBe(a.spanId);
});
