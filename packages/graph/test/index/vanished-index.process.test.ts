// Indices on a server whose files vanish under a reader: their next list is read, once, and nothing is said twice.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { NotFoundError, TransportError } from '../../src/container/graph-error.js';
import { HttpTransport } from '../../src/container/transport/http-transport.js';
import { CombinedGraphIndex } from '../../src/index/combined-graph-index.js';
import { GraphIndex } from '../../src/index/graph-index.js';
import type { IndexEntry } from '../../src/index/readable-index.js';
import { failureOf } from '../container/support/errors.js';
import { type RangeServer, startRangeServer } from '../container/support/range-server.js';
import { buildBytes, collect, shownAncestry } from './support/model-index.js';

const keysOf = async (entries: AsyncIterable<IndexEntry>): Promise<string[]> => {
  const keys = [];
  for await (const { key } of entries) keys.push(key.join(' '));
  return keys;
};

describe('files that vanish', () => {
  const NAMES = Array.from({ length: 4500 }, (_, i) => `key-${i}`);
  let server: RangeServer;
  /** Answered requests of `/old`; those behind them find nothing. */
  let oldRequests = Number.POSITIVE_INFINITY;

  beforeAll(async () => {
    const entries = NAMES.map((name, i) => ({
      key: [name],
      value: Buffer.from(`${i}`),
      references: [[i === 0 ? ['ghost'] : [NAMES[i - 1]]]],
    }));
    server = await startRangeServer(await buildBytes(entries, { referenceLists: 1, keyElements: 1 }));
    server.fault = (request, response) => {
      if (request.url !== '/old' || oldRequests-- > 0) return false;
      response.writeHead(404).end();
      return true;
    };
  });
  afterAll(() => server.close());
  afterEach(() => {
    oldRequests = Number.POSITIVE_INFINITY;
  });

  const openAt = (name: string): Promise<GraphIndex> =>
    GraphIndex.open(new HttpTransport(`${server.origin}/${name}`, { gapBytes: 1024 }), { tailBytes: 1 });

  const questions: [string, (index: CombinedGraphIndex) => Promise<unknown>][] = [
    ['iterAllEntries', async (index) => (await keysOf(index.iterAllEntries())).sort()],
    ['iterEntries', async (index) => (await keysOf(index.iterEntries(NAMES.map((name) => [name])))).sort()],
    [
      'iterEntriesPrefix',
      async (index) =>
        (await keysOf(index.iterEntriesPrefix(NAMES.filter((_, i) => i % 400 === 0).map((name) => [name])))).sort(),
    ],
    ['findAncestry', async (index) => shownAncestry(await index.findAncestry([['key-4499']], 0))],
    ['externalReferences', async (index) => [...(await index.externalReferences(0))]],
    ['getParentMap', async (index) => [...(await index.getParentMap([['key-5'], ['key-4000']]))]],
    ['validate', async (index) => index.validate()],
  ];

  test.each(questions)('%s goes on with the new ones, and says nothing twice', async (_, ask) => {
    const expected = await ask(new CombinedGraphIndex([await openAt('new')]));
    let reloaded = 0;
    // From an old file that answers nothing to one that answers all.
    for (let answered = 0; ; answered += Math.ceil((answered + 1) / 4)) {
      const reloads: number[] = [];
      const index = new CombinedGraphIndex([await openAt('old')], {
        reload: async () => {
          reloads.push(answered);
          return [await openAt('new')];
        },
      });
      oldRequests = answered;
      const answer = await ask(index);
      oldRequests = Number.POSITIVE_INFINITY;
      expect(answer).toEqual(expected);
      if (reloads.length === 0) break;
      expect(reloads).toHaveLength(1);
      reloaded++;
    }
    expect(reloaded).toBeGreaterThan(1);
  });

  test('the failure stands without reload, when nothing is new, and when no reload helps', async () => {
    const without = new CombinedGraphIndex([await openAt('old')]);
    let asked = 0;
    const inVain = new CombinedGraphIndex([await openAt('old')], {
      reload: async () => {
        asked++;
        return undefined;
      },
    });
    const stale = await openAt('old');
    let times = 0;
    const again = new CombinedGraphIndex([stale], {
      reload: async () => {
        times++;
        return [stale];
      },
    });
    oldRequests = 0;
    for (const index of [without, inVain, again])
      expect(await failureOf(collect(index.iterAllEntries()))).toBeInstanceOf(NotFoundError);
    oldRequests = Number.POSITIVE_INFINITY;
    expect([asked, times]).toEqual([1, 10]);
  });

  test('other failures do not ask for a reload', async () => {
    const index = new CombinedGraphIndex([await openAt('new')], { reload: () => expect.unreachable() });
    expect(await failureOf(collect(index.iterEntriesPrefix([[null]])))).toMatchObject({ name: 'BadKeyError' });
    await index.close();
    expect(await failureOf(collect(index.iterAllEntries()))).toMatchObject({ name: 'ClosedError' });
  });

  test('readers that fail together reload once, and one that read on from closed children goes on', async () => {
    const old = await openAt('old');
    let reloads = 0;
    const index = new CombinedGraphIndex([old], {
      reload: async () => {
        reloads++;
        const fresh = await openAt('new');
        await old.close();
        return [fresh];
      },
    });
    const late = index.iterAllEntries();
    const first = await late.next();
    oldRequests = 0;
    const both = await Promise.all([keysOf(index.iterAllEntries()), keysOf(index.iterAllEntries())]);
    oldRequests = Number.POSITIVE_INFINITY;
    expect(both.map(({ length }) => length)).toEqual([NAMES.length, NAMES.length]);
    const rest = await keysOf(late);
    expect(new Set([...rest, first.value?.key[0]]).size).toBe(NAMES.length);
    expect(rest).toHaveLength(NAMES.length - 1);
    expect(reloads).toBe(1);
  });

  test('a server that is gone counts as vanished', async () => {
    const gone = await startRangeServer(server.file);
    const child = await GraphIndex.open(new HttpTransport(gone.url, { retries: 0 }), { tailBytes: 1 });
    await gone.close();
    const alone = new CombinedGraphIndex([child]);
    expect(await failureOf(collect(alone.iterAllEntries()))).toBeInstanceOf(TransportError);
    const index = new CombinedGraphIndex([child], { reload: async () => [await openAt('new')] });
    expect(await keysOf(index.iterEntries([['key-1']]))).toEqual(['key-1']);
  });
});
