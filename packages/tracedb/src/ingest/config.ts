// The config file of an instance: which store, how params are cleaned, what counts as a regression. It must name every problem
// at once, and never fill in for a setting that is wrong.
import { dirname, resolve } from 'node:path';
import { escapeText } from 'spanline/internal/base';
import type { Direction } from '../detect/direction.js';
import { STEP_DETECTORS as DETECTORS, type StepDetectorName } from '../detect/step-fit.js';
import { type CleaningRule, cleaningRule, DEFAULT_RULE } from '../params/param-text.js';
import { parseBigtableLocation } from '../table/bigtable/client.js';
import { MAX_TILE_SIZE, MIN_TILE_SIZE } from '../tile.js';
import { invalidInput, type TraceDbError } from '../tracedb-error.js';
import { INGEST_LIMITS, openRegularFile } from './ingest-file.js';
import {
  integer,
  isObject,
  list,
  number,
  object,
  oneOf,
  type Problem,
  problemText,
  record,
  type Shaped,
  text,
} from './shape.js';
import { parseJson, utf8Text, wholeBytes } from './text.js';

/** Detectors of steps in a window. */
export const STEP_DETECTORS = Object.keys(DETECTORS) as readonly StepDetectorName[];

const positive = number({ above: 0 });

/** The file; what its settings mean is said with `InstanceConfig` and `DetectionConfig`. */
const CONFIG = object(
  // Directory, relative to this file, or bigtable://project/instance/table.
  { store: text(1) },
  {
    $schema: text(),
    tileSize: integer({ min: MIN_TILE_SIZE, max: MAX_TILE_SIZE }),
    shards: integer({ min: 1, max: 64 }),
    // Inside of a character class: what params may have; all else becomes "_".
    allowedChars: text(1, 200),
    paramSetKeys: list(text(1, 1024), 100, 'unique'),
    directions: record(oneOf('up', 'down', 'unknown'), 1000, text(1, 200)),
    detection: object(
      {},
      {
        detector: oneOf('e-divisive', ...STEP_DETECTORS),
        interesting: positive,
        radius: integer({ min: 1, max: 1000 }),
        stddevThreshold: positive,
        significance: number({ above: 0, below: 1 }),
        minimumEffect: number({ min: 0 }),
      },
      'closed',
    ),
  },
  'closed',
);

const MAX_CONFIG_BYTES = 1024 * 1024;
const MAX_PROBLEMS_SHOWN = 50;

/** How regressions are found; what is absent is up to the detector. */
export interface DetectionConfig {
  readonly detector: StepDetectorName | 'e-divisive';
  /** From where on a step counts; present for every detector but `e-divisive`. */
  readonly interesting?: number;
  /** Commits on each side of a window. */
  readonly radius?: number;
  /** Smallest spread that is divided by, for `original` and `cohen`. */
  readonly stddevThreshold?: number;
  /** Largest p-value of `e-divisive`. */
  readonly significance?: number;
  /** Smallest change that counts, as a share: 0.05 is 5 %. */
  readonly minimumEffect?: number;
}

/** The settings of an instance, with defaults filled in. */
export interface InstanceConfig {
  /** An absolute directory, or `bigtable://project/instance/table`. */
  readonly store: string;
  /** Commits in a tile, and shards of its traces; absent: those of the store, and the defaults for a new one. */
  readonly tileSize?: number;
  readonly shards?: number;
  readonly rule: CleaningRule;
  /** Keys that are offered for queries, in this order; absent: all, sorted. */
  readonly paramSetKeys?: readonly string[];
  /** Unit, as in the file, to which way is better; comes before the built-in table. */
  readonly directions: ReadonlyMap<string, Direction>;
  readonly detection: DetectionConfig;
}

const isBigtable = (store: string): boolean => store.startsWith('bigtable:');
const HAS_SCHEME = /^[a-z][a-z0-9+.-]+:\/\//i;

/** The problem `body` throws, if any. */
const problemOf = (path: string, body: () => unknown): readonly Problem[] => {
  try {
    body();
    return [];
  } catch (error) {
    return [{ path, reason: (error as Error).message }];
  }
};

const storeProblems = (store: string): readonly Problem[] => {
  if (isBigtable(store)) return problemOf('/store', () => parseBigtableLocation(store));
  if (!HAS_SCHEME.test(store)) return [];
  return [
    {
      path: '/store',
      reason: 'is not the address of a store; write a directory, or bigtable://project/instance/table',
    },
  ];
};

const detectionProblems = (detection: Readonly<Record<string, unknown>>): readonly Problem[] => {
  const { detector = 'e-divisive' } = detection;
  const isStep = STEP_DETECTORS.some((name) => name === detector);
  // The shape has refused it already.
  if (!isStep && detector !== 'e-divisive') return [];
  const problem = (setting: string, reason: string): Problem => ({ path: `/detection/${setting}`, reason });
  const foreign = (isStep ? ['significance'] : ['interesting', 'radius', 'stddevThreshold'])
    .filter((setting) => detection[setting] !== undefined)
    .map((setting) => problem(setting, `means nothing to ${detector}; leave it out`));
  const lacks = isStep && detection.interesting === undefined;
  return lacks ? [problem('interesting', `is needed by ${detector}`), ...foreign] : foreign;
};

/**
 * Every problem of a config document; empty when it is good. Use it where all problems are to be shown at once.
 *
 * @example
 * ```ts
 * import { configProblems } from '@spanline/tracedb';
 * const problems = await configProblems({ store: './traces', tileSize: 0 });
 * console.assert(problems[0].path === '/tileSize');
 * ```
 */
export const configProblems = async (document: unknown): Promise<readonly Problem[]> => {
  const problems = [...CONFIG(document, true)];
  if (!isObject(document)) return problems;
  // What a shape cannot say; looked at even when another setting is wrong, so that one run shows all.
  const { store, allowedChars, detection } = document;
  if (typeof store === 'string') problems.push(...storeProblems(store));
  if (typeof allowedChars === 'string' && allowedChars !== '') {
    problems.push(...problemOf('/allowedChars', () => cleaningRule(allowedChars)));
  }
  if (isObject(detection)) problems.push(...detectionProblems(detection));
  return problems;
};

const configError = (name: string, problems: readonly Problem[]): TraceDbError => {
  const shown = problems.slice(0, MAX_PROBLEMS_SHOWN).map(({ path, reason }) => `\n  ${problemText(path, reason)}`);
  const more = problems.length - shown.length;
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  return invalidInput(`${escapeText(name)}: ${count}${shown.join('')}${more > 0 ? `\n  and ${more} more` : ''}`);
};

/**
 * The settings of a config file, with defaults filled in; use it before a store is opened by its config. A store that is a
 * directory is relative to the file. Throws `ERR_SPANLINE_INVALID_INPUT` with every problem on a line of its own.
 *
 * @example
 * ```ts
 * import { writeFile } from 'node:fs/promises';
 * import { readInstanceConfig } from '@spanline/tracedb';
 *
 * const path = './perf.json';
 * await writeFile(path, JSON.stringify({ store: 'traces', detection: { detector: 'percent', interesting: 0.1 } }));
 * const { store, tileSize } = await readInstanceConfig(path);
 * console.log(`${store}, tiles of ${tileSize} commits`);
 * ```
 */
export const readInstanceConfig = async (path: string): Promise<InstanceConfig> => {
  const file = await openRegularFile(path, path, INGEST_LIMITS);
  let document: unknown;
  try {
    document = parseJson(path, utf8Text(path, await wholeBytes(path, file.bytes(), MAX_CONFIG_BYTES)));
  } finally {
    await file.close();
  }
  const problems = await configProblems(document);
  if (problems.length > 0) throw configError(path, problems);
  const {
    store,
    tileSize,
    shards,
    allowedChars,
    paramSetKeys,
    directions = {},
    detection,
  } = document as Shaped<typeof CONFIG>;
  return {
    store: isBigtable(store) ? store : resolve(dirname(path), store),
    ...(tileSize && { tileSize }),
    ...(shards && { shards }),
    rule: allowedChars === undefined ? DEFAULT_RULE : cleaningRule(allowedChars),
    ...(paramSetKeys && { paramSetKeys }),
    directions: new Map(Object.entries(directions)),
    detection: { detector: 'e-divisive', ...detection },
  };
};
