// The synthetic tile: a million traces (or fewer) by a seed, so that every subject and every run has the same ones.

/** Points are of commit 0 of tile 0. */
export const TILE = 0;
export const COMMIT = 0;
export const SOURCE = 'nightly/run-1.json';
export const TIME_MS = 1_750_000_000_000;

const SEED = 0x9e3779b9;
const BOTS = 50;
const GPUS = 20;
const CONFIGS = ['8888', '565', 'f16', 'gles', 'glesmsaa4', 'vk', 'vkmsaa4', 'mtl', 'pdf', 'svg'];
const SYSTEMS = ['android', 'ios', 'linux', 'mac', 'windows'];
const ARCHS = ['arm', 'arm64', 'x86_64'];
const UNITS = ['ms', 'bytes', 'count', 'fps'];

/** A whole number below 2^32 that depends on `i` and `salt` alone. */
const hash = (i, salt) => {
  let x = Math.imul(i ^ SEED, 0x85ebca6b) ^ Math.imul(salt + 1, 0xc2b2ae35);
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
};

const digits = (number, width) => String(number).padStart(width, '0');

/**
 * The params of trace `i` of `traces`. Every test runs on each of 50 bots; a bot has one operating system, architecture and GPU, a test
 * one unit; a tenth of the traces is of the branch release.
 */
export const paramsOf = (i, traces) => {
  const tests = traces / BOTS;
  const test = i % tests;
  const bot = Math.floor(i / tests);
  return {
    test: `test_${digits(test, 5)}`,
    bot: `bot-${digits(bot, 2)}`,
    config: CONFIGS[hash(i, 1) % CONFIGS.length],
    os: SYSTEMS[bot % SYSTEMS.length],
    arch: ARCHS[hash(bot, 2) % ARCHS.length],
    gpu: `gpu-${digits(hash(bot, 3) % GPUS, 2)}`,
    unit: UNITS[hash(test, 4) % UNITS.length],
    branch: hash(i, 5) % 10 === 0 ? 'release' : 'main',
  };
};

export const pointValue = (i, commit = 0) => (hash(i, 6 + commit) % 1_000_000) / 1000;

/** Points of the traces from `from` to before `to`. */
export const pointsOf = (from, to, traces, commit = COMMIT) =>
  Array.from({ length: to - from }, (_, k) => ({
    params: paramsOf(from + k, traces),
    value: pointValue(from + k, commit),
  }));
