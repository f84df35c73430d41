// Eight processes that put the same and different new digests at once agree: every digest has one id, every id one digest, and no
// trace, param or option of any of them is lost.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../../../test/support/child.js';
import { GOLD_SCHEMA } from '../../src/gold/gold-keys.js';
import { type GoldStats, GoldStore } from '../../src/gold/gold-store.js';
import { decodeVarint } from '../../src/gold/values.js';
import { openTable } from '../../src/table/open-table.js';
import { bundleProgram, startProgram } from '../support/child.js';
import { onBothEngines } from '../support/on-both-engines.js';
import { md5 } from './support/gold-model.js';

const WRITERS = 8;
const PUTS = 12;

onBothEngines('digest ids of eight processes', (engine) => {
  test('are unique and the same for all', async () => {
    const location = await engine.location();
    const table = await openTable(location, GOLD_SCHEMA);
    try {
      const child = await bundleProgram(join(root, 'packages/tracedb/test/gold/children/put-digests.ts'));
      const writers = Array.from({ length: WRITERS }, (_, i) => startProgram(child, [location, `${i}`]));
      const all = (line: string) => Promise.all(writers.map((writer) => writer.line((found) => found === line)));
      await all('ready');
      for (let put = 0; put < PUTS; put++) {
        // All put the same commit at once; else the fastest would have given all ids before the others came.
        for (const writer of writers) writer.process.stdin?.write(`${put}\n`);
        await all(`put ${put}`);
      }
      await Promise.all(writers.map((writer) => writer.finish()));
      const stats = await Promise.all(
        writers.map(async (writer) => JSON.parse(await writer.line((line) => line.startsWith('{'))) as GoldStats),
      );
      // The digest map itself: no id twice.
      const ids: number[] = [];
      const digests = new Map<number, string>();
      for await (const rows of table.readRows({ prefix: '' }, { families: ['D'] })) {
        for (const { key, cells } of rows) {
          const [, , type, , subkey] = key.split(':');
          for (const { qualifier, value } of cells) {
            const text = Buffer.from(value).toString();
            if (type === 'd') {
              ids.push(Number(text));
              digests.set(Number(text), subkey + qualifier);
            }
          }
        }
      }
      const expected = PUTS * (15 + 5 * WRITERS);
      expect(ids).toHaveLength(expected);
      expect(new Set(ids).size).toBe(expected);
      expect(new Set(digests.values()).size).toBe(expected);
      const total = (name: 'assigned' | 'refused' | 'batches'): number =>
        stats.reduce((sum, one) => sum + one.digests[name], 0);
      expect(total('assigned')).toBe(expected);
      // They did meet, or this proves nothing. In twelve rounds they do not less than once in a million times, as long as they meet in seven of
      // ten (0.3 ** 12); all get their commit at once, and each waits dozens of times for the store.
      expect(total('refused')).toBeGreaterThan(0);
      expect(stats.reduce((sum, one) => sum + one.ops.conflicts, 0)).toBeGreaterThan(0);
      expect(Math.max(...ids)).toBeLessThanOrEqual(100 * total('batches'));

      // And the id in the traces is that of the map, whoever wrote them.
      const used = new Set<number>();
      for await (const rows of table.readRows({ prefix: '' }, { families: ['T'] })) {
        for (const { key, cells } of rows) for (const { value } of cells) used.add(decodeVarint(value, () => key));
      }
      expect([...used].sort((a, b) => a - b)).toEqual(ids.sort((a, b) => a - b));

      const tile = await (await GoldStore.open(table)).getTile(PUTS);
      expect(tile.commits).toHaveLength(PUTS);
      expect(tile.traces).toHaveLength(WRITERS * 15 + WRITERS * 5 * PUTS);
      for (const { params, options, digests: found } of tile.traces) {
        if (params.writer !== undefined) {
          const test = params.name.slice('test'.length);
          expect(found).toEqual(Array.from({ length: PUTS }, (_, put) => md5(`common ${put} ${test}`)));
          continue;
        }
        const writer = options.writer;
        const put = Number(params[`key${writer}`]);
        expect(found.findIndex((digest) => digest !== '')).toBe(put);
        expect(found[put]).toBe(md5(`own ${writer} ${put} ${params.name.slice('own'.length)}`));
      }
    } finally {
      await table.close();
    }
  }, 240_000);
});
