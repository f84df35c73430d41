// Tile arithmetic: which tile and column a commit falls in, and how a tile is named in keys so that the newest sorts first.
import { wholeNumber } from 'spanline/internal/base';
import { invalidInput, storeCorrupt } from './tracedb-error.js';

/** The highest tile: keys count down from it. */
export const MAX_TILE = 2 ** 31 - 1;
/** Commits of a tile, at least and at most. */
export const MIN_TILE_SIZE = 1;
export const MAX_TILE_SIZE = 8192;

const KEY_DIGITS = 10;

/** Throws unless `commit` can be the number of a commit. */
export const checkCommit = (commit: number): void => {
  wholeNumber('the number of a commit', commit, [0, MAX_TILE], invalidInput);
};

/** The tile of a commit. */
export const tileOf = (commit: number, tileSize: number): number => Math.floor(commit / tileSize);

/** The column of a commit in its tile. */
export const offsetOf = (commit: number, tileSize: number): number => commit % tileSize;

/** A tile's name in keys: ten digits, the newest tile first. */
export const tileKey = (tile: number): string => {
  wholeNumber('tile', tile, [0, MAX_TILE], invalidInput);
  return String(MAX_TILE - tile).padStart(KEY_DIGITS, '0');
};

/** The tile that `key` names; throws `ERR_SPANLINE_STORE_CORRUPT` when it is not one. */
export const tileOfKey = (key: string): number => {
  if (!/^\d{10}$/.test(key)) {
    throw storeCorrupt(`${JSON.stringify(key)} is not a tile key; the store holds foreign rows`);
  }
  return MAX_TILE - Number(key);
};
