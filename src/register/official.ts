// OpenTelemetry's own instrumentation packages, and Prisma's: those that the program depends on and that no instrumentation of ours stands for, in the
// version that is installed, are loaded and record here. None that fails may keep the program from starting.
import { readFileSync } from 'node:fs';
import { createRequire, register } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { attempt } from '../base/calls/attempt.js';
import { instrumentationNames } from '../instrument/instrument.js';
import { oldVersion } from '../instrument/untraced.js';
import type { Log } from './log.js';
import type { Settings } from './settings.js';

const OFFICIAL = '@opentelemetry/instrumentation-';
/** Older names of packages, by the library that they trace. */
const RENAMED: Readonly<Record<string, string>> = { 'redis-4': 'redis' };

/** Packages of a library's own that are loaded and switched on like those. */
const OF_LIBRARIES: Readonly<Record<string, string>> = { '@prisma/instrumentation': 'prisma' };

/** By what a package is switched off; undefined for other packages. */
const shortOf = (name: string): string | undefined =>
  name.startsWith(OFFICIAL) ? name.slice(OFFICIAL.length) : OF_LIBRARIES[name];

const libraryOf = (short: string): string => RENAMED[short] ?? short;

interface Manifest {
  readonly file: string;
  readonly names: readonly string[];
}

/** The package that the program is part of, and the packages among its dependencies that trace. */
const manifestOf = (program: string): Manifest | undefined => {
  for (let folder = program; ; folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    try {
      const { dependencies, optionalDependencies } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, object>;
      const names = Object.keys({ ...dependencies, ...optionalDependencies });
      return { file, names: names.filter((name) => shortOf(name) !== undefined) };
    } catch {
      // None here, or none that can be read.
    }
    if (dirname(folder) === folder) return undefined;
  }
};

/** Whether an instrumentation of ours traces what the program has installed. A version that is too old is left to the official one. */
const isOurs = (short: string, require: NodeJS.Require): boolean => {
  const library = libraryOf(short);
  if (!instrumentationNames.includes(library)) return false;
  // It throws where it is not installed, or an ES module alone.
  return attempt(() => oldVersion(library, require.resolve(library)) === undefined) ?? true;
};

/** The libraries that official `packages` trace. */
export const tracedByOfficial = (packages: readonly string[]): readonly string[] =>
  packages.map((name) => libraryOf(shortOf(name) ?? name));

interface Startable {
  enable(): void;
}

const isInstrumentation = (value: unknown): value is new () => Startable =>
  typeof value === 'function' &&
  /Instrumentation$/.test(value.name) &&
  typeof (value.prototype as Partial<Startable> | undefined)?.enable === 'function';

/** Programs of ES modules are patched by a loader, which the packages bring. */
const hookModules = (file: string): void => {
  const { noDeprecation } = process;
  // Node 26 warns of it, and the packages bring a loader of this kind alone.
  process.noDeprecation = true;
  try {
    register('@opentelemetry/instrumentation/hook.mjs', pathToFileURL(file));
  } finally {
    process.noDeprecation = noDeprecation;
  }
};

/** Load them. To be called once the API is ours; gives their names. */
export const startOfficial = (
  { enabled, disabled }: Settings,
  log: Log,
  program = resolve(process.argv[1] ?? '.'),
): readonly string[] => {
  const manifest = manifestOf(program);
  if (manifest === undefined) return [];
  const require = createRequire(manifest.file);
  const started: string[] = [];
  for (const name of manifest.names) {
    const short = shortOf(name) ?? name;
    if (isOurs(short, require) || disabled.includes(short) || enabled?.includes(short) === false) continue;
    try {
      const classes = Object.values(require(name) as object).filter(isInstrumentation);
      // Switched on where they are made, unless their options forbid it.
      for (const Instrumentation of new Set(classes)) new Instrumentation();
      if (classes.length > 0) started.push(name);
    } catch (error) {
      log.warn(`${name} is not used: ${(error as Error).message}`);
    }
  }
  // Prisma's patches no module.
  if (!started.some((name) => name.startsWith(OFFICIAL))) return started;
  try {
    hookModules(manifest.file);
  } catch (error) {
    log.debug(`ES modules are not patched by ${started.join(', ')}: ${(error as Error).message}`);
  }
  return started;
};
