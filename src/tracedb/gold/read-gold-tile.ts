// Makes a tile of any length from stored tiles, newest first. It must read no tile it does not need, and no tile twice.
import type { CallDeadline } from '../params/call-deadline.js';
import { tileOf } from '../tile.js';
import { type GoldTile, GoldTileBuilder } from './gold-tile.js';
import type { CommitRange, GoldTileReader } from './gold-tile-reader.js';

/** Which commits are wanted. */
export interface TileRequest {
  readonly tileSize: number;
  readonly nCommits: number;
  /** Number of the last commit; undefined: the newest one with data. */
  readonly last: number | undefined;
}

/** A tile, and how many stored ones it was made of. */
export interface TileRead {
  readonly tile: GoldTile;
  readonly tilesRead: number;
}

const addTile = async (
  builder: GoldTileBuilder,
  reader: GoldTileReader,
  tile: number,
  range: CommitRange,
  deadline: CallDeadline,
): Promise<void> => {
  for await (const fragments of reader.traces(tile, range, deadline)) {
    for (const fragment of fragments) builder.add(fragment);
  }
  for await (const found of reader.options(tile, deadline)) {
    for (const { id, options } of found) builder.addOptions(id, options);
  }
};

/** The last `nCommits` commits, whether or not a trace has a digest there. */
export const readTile = async (
  reader: GoldTileReader,
  { tileSize, nCommits, last }: TileRequest,
  deadline: CallDeadline,
): Promise<TileRead> => {
  const builder = new GoldTileBuilder();
  let end = last;
  let tilesRead = 0;
  const firstOf = (commit: number): number => Math.max(0, commit - nCommits + 1);
  for await (const tile of reader.tiles(deadline, last === undefined ? undefined : tileOf(last, tileSize))) {
    const range = { first: end === undefined ? 0 : firstOf(end), last: end ?? Number.MAX_SAFE_INTEGER };
    if (tile < tileOf(range.first, tileSize)) break;
    await addTile(builder, reader, tile, range, deadline);
    tilesRead++;
    end ??= builder.commits.at(-1);
  }
  if (end === undefined) return { tile: builder.build([], last === undefined), tilesRead };
  const first = firstOf(end);
  const commits = Array.from({ length: end - first + 1 }, (_, i) => first + i);
  return { tile: builder.build(commits, first === 0), tilesRead };
};

/** The last `nCommits` of those commits at which at least one trace has a digest. */
export const readDenseTile = async (
  reader: GoldTileReader,
  { tileSize, nCommits, last }: TileRequest,
  deadline: CallDeadline,
): Promise<TileRead> => {
  const builder = new GoldTileBuilder();
  const range = { first: 0, last: last ?? Number.MAX_SAFE_INTEGER };
  let tilesRead = 0;
  let isEnough = false;
  for await (const tile of reader.tiles(deadline, last === undefined ? undefined : tileOf(last, tileSize))) {
    await addTile(builder, reader, tile, range, deadline);
    tilesRead++;
    isEnough = builder.commitCount >= nCommits;
    if (isEnough) break;
  }
  return { tile: builder.build(builder.commits.slice(-nCommits), !isEnough), tilesRead };
};
