// The nodes of a plan give what the params say, whether conditions are read, checked or the tile is walked; and they never have more
// streams open than they said beforehand, which is never more than there are slots.
import { beforeAll, describe, expect, test } from 'vitest';
import type { Plan } from '../../src/query/plan.js';
import { compileQuery, parseQuery } from '../../src/query/query.js';
import { buildNodes, leavesOf, MAX_OPEN_LEAVES } from '../../src/query/run-query.js';
import type { WideColumnTable } from '../../src/table/wide-column-table.js';
import { onLmdb } from '../support/on-both-engines.js';
import { SCHEMA, type Tile, writeTile } from './support/tile-of-traces.js';

type Running = Exclude<Plan, { kind: 'empty' }>;

const TRACES = Array.from({ length: 6000 }, (_, i) => ({
  test: `t${i % 300}`,
  bot: `b${i % 70}`,
  run: `r${Math.floor(i / 2100)}`,
  arch: `a${i % 3}`,
  ...(i % 2 === 0 ? { os: `o${i % 7}` } : {}),
}));
const some = (key: string, count: number, step = 1): string =>
  Array.from({ length: count }, (_, i) => `${key}=${key[0]}${i * step}`).join('&');

onLmdb('nodes of a plan', (engine) => {
  let table: WideColumnTable;
  let tile: Tile;
  beforeAll(async () => {
    table = await engine.table(SCHEMA);
    tile = await writeTile(table, TRACES);
  });

  test.each([
    ['one value', 'arch=a1', 1],
    ['several values', 'arch=a1&arch=a2', 2],
    ['as many values as there are slots', some('test', MAX_OPEN_LEAVES), MAX_OPEN_LEAVES],
    ['more values than slots: a walk of the tile', some('test', MAX_OPEN_LEAVES + 1), 4],
    ['every value: a walk of the tile', 'test=*', 4],
    ['two conditions', 'arch=a1&os=*', 8],
    ['three conditions, the largest only checked', `arch=a1&os=o2&${some('test', 100, 3)}`, 2],
    ['two that do not fit together', `${some('test', 40)}&${some('bot', 20)}&arch=a0`, 61],
    ['two that are both too large: a walk of the tile', 'test=*&bot=*', 4],
    ['nothing in common', 'test=t0&arch=a1', 2],
  ])('%s', async (_name, query, leaves) => {
    const { layout, traces, plan: planOf } = tile;
    const plan = (await planOf(query)) as Running;
    expect(leavesOf(plan, layout)).toBe(leaves);
    const node = buildNodes(plan, { table, layout, options: {} }, undefined);
    const found: string[] = [];
    let max = 0;
    for (let batch = await node.next(); batch !== undefined; batch = await node.next()) {
      found.push(...batch);
      max = Math.max(max, table.stats().openReads);
    }
    const matches = await compileQuery(parseQuery(query));
    expect(found).toEqual([...traces].flatMap(([id, params]) => (matches(params) ? [id] : [])));
    expect(max).toBeLessThanOrEqual(leaves);
    expect(table.stats().openReads).toBe(0);
  });

  test('all traces, of a tile with as many shards as there are slots', async () => {
    const other = await engine.table(SCHEMA);
    const { layout, traces } = await writeTile(other, TRACES, MAX_OPEN_LEAVES);
    const plan: Plan = { kind: 'all' };
    expect(leavesOf(plan, layout)).toBe(MAX_OPEN_LEAVES);
    const node = buildNodes(plan, { table: other, layout, options: {} }, undefined);
    const found: string[] = [];
    for (let batch = await node.next(); batch !== undefined; batch = await node.next()) found.push(...batch);
    expect(found).toEqual([...traces.keys()]);
    expect(other.stats().openReads).toBe(0);
  });
});

describe('streams of a plan', () => {
  test('none for one that selects nothing', () => {
    const layout = { indexPrefix: () => '', tracePrefixes: ['t'] };
    expect(leavesOf({ kind: 'empty', unmet: 'nothing', reason: '' }, layout)).toBe(0);
  });
});
