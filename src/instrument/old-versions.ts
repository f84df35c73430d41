// Libraries that are loaded in a version which is not traced: said once each, and what traces it.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { allOff, type Off } from './channel.js';
import { onModule } from './on-module.js';

/** Takes what is said of them. `diag` of OpenTelemetry's API is one, and so is `console`. */
export interface VersionLog {
  /** Of those that a package of OpenTelemetry traces. */
  warn(message: string): void;
  /** Of the others. */
  debug(message: string): void;
}

/** The first version that is traced, by the option's name, which is that of the package. */
const FIRST: Readonly<Record<string, string>> = {
  amqplib: '0.8.0',
  fastify: '5.0.0',
  graphql: '15.0.0',
  h3: '2.0.0',
  ioredis: '4.0.0',
  kafkajs: '1.0.0',
  mongodb: '5.0.0',
  mongoose: '7.0.0',
  mysql2: '3.20.0',
  pino: '9.10.0',
  redis: '5.12.0',
};

/** Of these OpenTelemetry's packages trace older versions. */
const ELSEWHERE: readonly string[] = [
  'amqplib',
  'graphql',
  'ioredis',
  'kafkajs',
  'mongodb',
  'mongoose',
  'mysql2',
  'redis',
];

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
  const first = FIRST[name];
  const version = first === undefined ? undefined : versionAbove(file, name);
  return version !== undefined && isOlder(version, first) ? version : undefined;
};

const say = (name: string, version: string, log: VersionLog): void => {
  const message = `${name} ${version} is not traced by spanline, which it is from ${FIRST[name]} on`;
  if (ELSEWHERE.includes(name)) log.warn(`${message}; npm install @opentelemetry/instrumentation-${name}`);
  else log.debug(message);
};

/** Says of each of `names` that is loaded too old. */
export const tellOldVersions = (names: readonly string[], log: VersionLog): Off => {
  const told = new Set<string>();
  const look = (name: string): Off =>
    onModule(name, undefined, (_, fileOf) => {
      const file = fileOf();
      const version = file === undefined ? undefined : oldVersion(name, file);
      if (version === undefined || told.has(name)) return undefined;
      told.add(name);
      say(name, version, log);
      return undefined;
    });
  return allOff(names.filter((name) => FIRST[name] !== undefined).map(look));
};
