// Libraries that are loaded in a version which is not traced, or that are traced in none: said once each, and what traces it.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { allOff, type Off } from './channel.js';
import { onModule } from './on-module.js';
import { firstTraced, UNTRACED, VERSIONS } from './versions.js';

/** Takes what is said of them. `diag` of OpenTelemetry's API is one, and so is `console`. */
export interface VersionLog {
  /** Of those that a package of OpenTelemetry traces. */
  warn(message: string): void;
  /** Of the others. */
  debug(message: string): void;
}

/** Whether `version` comes before `first`, of which it may be a preview. */
export const isOlder = (version: string, first: string): boolean => {
  const [a, b] = [version, first].map((text) => text.split(/[.-]/).slice(0, 3).map(Number));
  const at = a.findIndex((part, i) => part !== b[i]);
  return at >= 0 && a[at] < b[at];
};

/** The version of the package `name` that `file` is of. */
export const versionAbove = (file: string, name: string): string | undefined => {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>;
      if (manifest.name === name) return String(manifest.version);
    } catch {
      // None here.
    }
  }
  return undefined;
};

/** The version of the library whose `file` was found, where it is too old to be traced. */
export const oldVersion = (name: string, file: string): string | undefined => {
  const first = firstTraced(name);
  if (first === undefined) return undefined;
  const version = versionAbove(file, name);
  return version !== undefined && isOlder(version, first) ? version : undefined;
};

const say = (name: string, version: string, log: VersionLog): void => {
  const first = firstTraced(name);
  const message = `${name} ${version} is not traced by spanline${first === undefined ? '' : `, which it is from ${first} on`}`;
  if ((VERSIONS[name]?.before ?? UNTRACED[name]) === 'official')
    log.warn(`${message}; npm install @opentelemetry/instrumentation-${name}`);
  else log.debug(message);
};

/** The version of the library whose `file` was found, where it is not traced. */
const untracedVersion = (name: string, file: string): string | undefined =>
  name in UNTRACED ? versionAbove(file, name) : oldVersion(name, file);

/** Logs each of `names` that is loaded too old, or that is never traced. */
export const reportUntraced = (names: readonly string[], log: VersionLog): Off => {
  const logged = new Set<string>();
  const look = (name: string): Off =>
    onModule(name, undefined, (_, fileOf) => {
      const file = fileOf();
      const version = file === undefined ? undefined : untracedVersion(name, file);
      if (version === undefined || logged.has(name)) return undefined;
      logged.add(name);
      say(name, version, log);
      return undefined;
    });
  return allOff(names.filter((name) => name in UNTRACED || firstTraced(name) !== undefined).map(look));
};
