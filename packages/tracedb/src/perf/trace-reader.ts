// Reads traces of a tile: by id, or by the stream of ids of a query, a batch at a time while the next ids are found.
import type { DecodeIds } from '../params/ops-rows.js';
import type { Params } from '../params/param-text.js';
import type { CallOptions, ReadOptions, WideColumnTable } from '../table/wide-column-table.js';
import { FAMILIES, type PerfConfig, traceKey, valuesOf } from './keys.js';

/** A trace in one tile. */
export interface PerfTrace {
  /** Its encoded id, which holds in this tile only. */
  readonly id: string;
  readonly params: Params;
  /** One value a commit of the tile; NaN where there is none. */
  readonly values: Float32Array;
}

/** The values of the traces with these ids that the tile has; of only some columns, where these are named. */
export const readValues = async (
  table: WideColumnTable,
  { tileSize, shards }: PerfConfig,
  tile: number,
  ids: readonly string[],
  options: ReadOptions,
): Promise<ReadonlyMap<string, Float32Array>> => {
  const idOfKey = new Map(ids.map((id) => [traceKey(tile, id, shards), id]));
  const found = new Map<string, Float32Array>();
  const read = table.readRows({ keys: [...idOfKey.keys()] }, { ...options, families: [FAMILIES.value] });
  for await (const rows of read) {
    for (const { key, cells } of rows) {
      found.set(idOfKey.get(key) as string, valuesOf(key, cells, tileSize));
    }
  }
  return found;
};

/** The traces with these ids that the tile has, in the order of `ids`. */
export const readTraces = async (
  table: WideColumnTable,
  config: PerfConfig,
  tile: number,
  ids: readonly string[],
  decode: DecodeIds,
  options: CallOptions,
): Promise<PerfTrace[]> => {
  const found = await readValues(table, config, tile, ids, options);
  const present = ids.filter((id) => found.has(id));
  const params = await decode(present);
  return present.map((id, i) => ({ id, params: params[i] as Params, values: found.get(id) as Float32Array }));
};

/** The traces behind a stream of ids. The ids of the next batch are found while the traces of this one are read. */
export async function* readTracesOf(
  idBatches: AsyncIterator<readonly string[]>,
  read: (ids: readonly string[]) => Promise<PerfTrace[]>,
): AsyncGenerator<readonly PerfTrace[], undefined, void> {
  try {
    let pending = idBatches.next();
    for (;;) {
      const { done, value: ids } = await pending;
      if (done) return;
      pending = idBatches.next();
      // Its failure is met at the top of the loop; until then it must not count as unhandled.
      pending.catch(() => {});
      const traces = await read(ids);
      if (traces.length > 0) yield traces;
    }
  } finally {
    await idBatches.return?.();
  }
}
