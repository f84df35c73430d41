// What the Perf and the Gold store of test/fixtures/old-files hold, written out by hand.

export const OLD_COMMITS = [
  { hash: '868f75e448c7', timestampMs: 1_760_000_000_000 },
  { hash: '0f1e2d3c4b5a', timestampMs: 1_760_000_100_000 },
  { hash: 'aaaabbbbcccc', timestampMs: 1_760_000_200_000 },
] as const;

/** Values by commit; a commit without one has none. */
export const OLD_SERIES = [
  { params: { test: 'encode', unit: 'ns' }, values: [463, 470.5, 1024] },
  { params: { test: 'decode', unit: 'ns' }, values: [511, undefined, 0.25] },
  { params: { test: 'decode', unit: 'bytes' }, values: [undefined, 100, 100] },
] as const;

export const OLD_GOOD = '0cc175b9c0f1b6a831c399e269772661';
export const OLD_BAD = '92eb5ffee6ae2fec3ad71c777531578f';

/** Digests by commit. */
export const OLD_DIGESTS = [
  { commit: 7, params: { name: 'circle', gpu: 'mali' }, digest: OLD_GOOD },
  { commit: 7, params: { name: 'square', gpu: 'mali' }, digest: OLD_GOOD },
  { commit: 8, params: { name: 'circle', gpu: 'mali' }, digest: OLD_BAD },
] as const;

/** When everything above was measured. */
export const OLD_TIME_MS = 1_760_000_300_000;
