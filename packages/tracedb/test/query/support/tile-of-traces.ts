// A tile of traces with the index rows that queries read, in a table of its own: as small as can be, without the store above it.
import { crc32 } from 'node:zlib';
import { OrderedParamSet } from '../../../src/params/ordered-param-set.js';
import { ParamSet } from '../../../src/params/param-set.js';
import type { Params } from '../../../src/params/param-text.js';
import { type Plan, planQuery } from '../../../src/query/plan.js';
import { parseQuery } from '../../../src/query/query.js';
import type { TileLayout } from '../../../src/query/run-query.js';
import type { WideColumnTable } from '../../../src/table/wide-column-table.js';

export const SCHEMA = { families: ['V'] };

const BATCH = 5000;

/** A tile that was written. */
export interface Tile {
  readonly ops: OrderedParamSet;
  readonly layout: TileLayout;
  /** All ids with the params they stand for, in order. */
  readonly traces: ReadonlyMap<string, Params>;
  plan(query: string): Promise<Plan>;
}

/** Write traces with these params, into so many shards. */
export const writeTile = async (table: WideColumnTable, all: readonly Params[], shards = 4): Promise<Tile> => {
  const params = new ParamSet();
  for (const one of all) params.add(one);
  const ops = OrderedParamSet.empty.with(params);
  const traces = new Map(
    all.map((one): [string, Params] => [ops.encode(one), one]).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  const keys = [...traces.keys()].flatMap((id) => [
    `t${crc32(id) % shards}:${id}`,
    ...id
      .slice(1, -1)
      .split(',')
      .map((pair) => `j${pair.replace('=', ':')}:${id}`),
  ]);
  const value = new Uint8Array(0);
  const mutations = [{ type: 'set' as const, family: 'V', qualifier: '', value, timestampMs: 1 }];
  for (let i = 0; i < keys.length; i += BATCH) {
    await table.mutateRows(keys.slice(i, i + BATCH).map((key) => ({ key, mutations })));
  }
  return {
    ops,
    traces,
    layout: {
      indexPrefix: (keyIndex, valueIndex) => `j${keyIndex}:${valueIndex}:`,
      tracePrefixes: Array.from({ length: shards }, (_, shard) => `t${shard}:`),
    },
    plan: (query) => planQuery(parseQuery(query), ops),
  };
};
