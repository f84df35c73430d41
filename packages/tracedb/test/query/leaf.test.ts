// A leaf gives exactly the ids behind its prefix, on a table of either engine, however it is moved; it has at most one read open, and
// none when it is paused, at its end, closed or failed.
import { beforeAll, expect, test } from 'vitest';
import { Span } from '../../../../src/index.js';
import fc from '../../../../test/support/fast-check.js';
import { recorder } from '../../../../test/support/recorder.js';
import { samples } from '../../../../test/support/samples.js';
import { Leaf } from '../../src/query/id-node.js';
import type { WideColumnTable } from '../../src/table/wide-column-table.js';
import { onBothEngines } from '../support/on-both-engines.js';
import { drain } from './support/source-node.js';

const COUNT = 3000;
const id = (n: number): string => `,0=${String(n).padStart(5, '0')},`;
const ids = Array.from({ length: COUNT }, (_, n) => id(2 * n));

onBothEngines('a leaf', (engine) => {
  let table: WideColumnTable;
  beforeAll(async () => {
    table = await engine.table({ families: ['I'] });
    const mutations = [{ type: 'set' as const, family: 'I', qualifier: 'E', value: new Uint8Array(0), timestampMs: 1 }];
    // Neighbours whose prefixes begin alike, or sort right before and behind.
    const keys = ['j1:1:1:', 'j1:1:10:', 'j1:1:2:', 'j1:11:1:', 'j0:1:1:'].flatMap((prefix) =>
      ids.map((one) => prefix + one),
    );
    for (let i = 0; i < keys.length; i += 5000) {
      await table.mutateRows(keys.slice(i, i + 5000).map((key) => ({ key, mutations })));
    }
  });

  const leaf = (prefix = 'j1:1:1:', signal?: AbortSignal): Leaf =>
    new Leaf({ table, prefix, options: signal === undefined ? {} : { signal } }, undefined);
  const openReads = (): number => table.stats().openReads;

  test('gives the ids behind its prefix', async () => {
    const one = leaf();
    expect(openReads()).toBe(0);
    expect(await drain(one)).toEqual(ids);
    expect(await one.next()).toBeUndefined();
    expect(one.figures).toMatchObject({ idsIn: COUNT, idsOut: COUNT });
    expect(await drain(leaf('j1:1:3:'))).toEqual([]);
    expect(openReads()).toBe(0);
  });

  test('goes on where it was, or further', async () => {
    const anyMove = fc.oneof(
      { weight: 3, arbitrary: fc.constant('next' as const) },
      { weight: 1, arbitrary: fc.constant('pause' as const) },
      // Also backwards, which it must not follow, and to ids between those there are.
      { weight: 2, arbitrary: fc.nat(Math.floor(2.2 * COUNT)) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(anyMove, { maxLength: 8 }), fc.boolean(), async (moves, isDrained) => {
        const one = leaf();
        try {
          let left = ids;
          for (const move of moves) {
            if (move === 'next') {
              const batch = (await one.next()) ?? [];
              expect(batch).toEqual(left.slice(0, batch.length));
              expect(batch.length > 0).toBe(left.length > 0);
              left = left.slice(batch.length);
              expect(openReads()).toBeLessThanOrEqual(1);
            } else if (move === 'pause') {
              await one.pause();
              expect(openReads()).toBe(0);
            } else {
              await one.skipTo(id(move));
              left = left.filter((other) => other >= id(move));
            }
          }
          if (isDrained) expect(await drain(one)).toEqual(left);
        } finally {
          await one.close();
        }
        expect(openReads()).toBe(0);
      }),
      { numRuns: samples(15, 25, 400) },
    );
  });

  test('is over when it is closed, also while a batch is on its way', async () => {
    const one = leaf();
    await one.next();
    await one.close();
    await one.close();
    expect(await one.next()).toBeUndefined();
    const pending = leaf();
    const batch = pending.next();
    await pending.close();
    await batch;
    expect(openReads()).toBe(0);
  });

  test('shows its first reads in a trace and counts the others', async () => {
    const { root, memory, tree } = recorder();
    const request = root('request');
    await request.run(async () => {
      const span = Span.startWithLocalParent('leaf');
      const one = new Leaf({ table, prefix: 'j1:1:1:', options: { limit: 50 } }, span);
      for (let read = 0; read < 20; read++) {
        await one.next();
        await one.pause();
      }
      await one.close();
      span.end();
    });
    request.end();
    expect((await tree()).match(/table\.read-keys/g)).toHaveLength(8);
    expect(memory.find('leaf')).toMatchObject({ properties: { reads: 20 } });
    expect(openReads()).toBe(0);
  });

  test('rejects when its signal fires, and has no read open then', async () => {
    const abort = new AbortController();
    const one = leaf('j1:1:1:', abort.signal);
    await one.next();
    abort.abort();
    await expect(one.next()).rejects.toMatchObject({ code: 'ERR_SPANLINE_ABORTED' });
    await one.close();
    expect(openReads()).toBe(0);
  });
});
