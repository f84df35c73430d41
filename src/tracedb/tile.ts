// Tile arithmetic: which tile and column a commit falls in, and how a tile is named in keys so that the newest sorts first.
import { invalidInput, TraceDbError } from './tracedb-error.js';

/** The highest tile: keys count down from it. */
export const MAX_TILE = 2 ** 31 - 1;
/** Commits of a tile, at least and at most. */
export const MIN_TILE_SIZE = 1;
export const MAX_TILE_SIZE = 8192;

const KEY_DIGITS = 10;

/** Throws unless `tileSize` commits can be a tile. */
export const checkTileSize = (tileSize: number): void => {
  if (!Number.isInteger(tileSize) || tileSize < MIN_TILE_SIZE || tileSize > MAX_TILE_SIZE) {
    throw invalidInput(`a tile has ${MIN_TILE_SIZE} to ${MAX_TILE_SIZE} commits, not ${tileSize}`);
  }
};

/** Throws unless `commit` can be the number of a commit. */
export const checkCommit = (commit: number): void => {
  if (!Number.isInteger(commit) || commit < 0 || commit > MAX_TILE) {
    throw invalidInput(`a commit number is a whole number from 0 to ${MAX_TILE}, not ${commit}`);
  }
};

/** The tile of a commit. */
export const tileOf = (commit: number, tileSize: number): number => Math.floor(commit / tileSize);

/** The column of a commit in its tile. */
export const offsetOf = (commit: number, tileSize: number): number => commit % tileSize;

/** A tile's name in keys: ten digits, the newest tile first. */
export const tileKey = (tile: number): string => {
  if (!Number.isInteger(tile) || tile < 0 || tile > MAX_TILE)
    throw invalidInput(`a tile is a whole number from 0, not ${tile}`);
  return String(MAX_TILE - tile).padStart(KEY_DIGITS, '0');
};

/** The tile that `key` names; throws `ERR_SPANLINE_STORE_CORRUPT` when it is not one. */
export const tileOfKey = (key: string): number => {
  if (!/^\d{10}$/.test(key)) {
    throw new TraceDbError(
      'ERR_SPANLINE_STORE_CORRUPT',
      `${JSON.stringify(key)} is no tile key; the store holds foreign rows`,
    );
  }
  return MAX_TILE - Number(key);
};
