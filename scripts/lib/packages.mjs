// The packages of the workspace, the core first: what bundling needs to know of each beyond its package.json. A package stands behind those that it depends on.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

/** Modules whose calls into each other are on the hot path: V8 takes an export of another chunk for variable, and reads it at each use. */
const CORE =
  /\/src\/((clock|context|rows|local-span|span|collector)\/|record\/record\.ts|flight-recorder\/install\.ts)/;
/** What the core and most others import from the base: a chunk of its own, or its importers would load the first chunk that contains it. */
const BASE = /\/src\/base\/(errors|options|calls|maps|packages|text\/escape-text)/;
const FILES = /\/src\/base\/files\//;
/** The rest of it. */
const VALUES = /\/src\/base\//;
/** What nearly every command loads: another file costs more than its lines. */
const COMMAND = /\/src\/(archive-options|columns|exit-code|interrupt|options|output|package|progress|terminal)\.ts$/;
/** Labels, whose calls into each other are on the hot path too. */
const LABELS = /\/src\/(join\/)?[\w-]+\.ts$/;

/**
 * @typedef {object} Package
 * @property {string} folder its folder, relative to the root; '' for the root
 * @property {Record<string, string>} extra entry points that package.json does not export, output name -> source
 * @property {string[]} waiting what lets a program wait until something has begun, as only a module can: written beside the module that it waits for,
 *   as it is
 * @property {string[]} programs output names of what a shell starts
 * @property {{ name: string, test: RegExp, priority?: number }[]} chunks code that stays together
 */

/** @type {Package[]} */
export const packages = [
  {
    folder: '',
    extra: {
      // What the library loads when an option asks for it. It finds the file by this name.
      'flight-recorder/recorder-feature': './src/flight-recorder/recorder-feature.ts',
      // The clock as the benchmarks read it; not published.
      'clock/index': './src/clock/index.ts',
      // Not inside the entry that modules import, which Node 20 reads character by character: with it that takes 45 ms of CPU more.
      'register/api': './src/register/api.ts',
    },
    waiting: ['register/preload'],
    programs: [],
    chunks: [
      { name: 'base', test: BASE, priority: 2 },
      { name: 'files', test: FILES, priority: 2 },
      { name: 'values', test: VALUES, priority: 1 },
      { name: 'core', test: CORE },
    ],
  },
  { folder: 'packages/graph', extra: {}, waiting: [], programs: [], chunks: [] },
  { folder: 'packages/profile', extra: {}, waiting: [], programs: [], chunks: [{ name: 'labels', test: LABELS }] },
  {
    folder: 'packages/archive',
    // As a thread of its own: found by this name from the folder of chunks.
    extra: { 'archive/archive-worker': './src/archive-worker.ts' },
    waiting: [],
    programs: [],
    chunks: [{ name: 'archive', test: /\/src\/work-thread\.ts$/ }],
  },
  { folder: 'packages/tracedb', extra: {}, waiting: [], programs: [], chunks: [] },
  { folder: 'packages/ui', extra: {}, waiting: [], programs: [], chunks: [] },
  {
    folder: 'packages/cli',
    extra: {
      // The command, and what it loads into other processes.
      main: './src/main.ts',
      'bench/otlp-sink': './src/bench/overhead/otlp-sink.ts',
      'profile/profile-child': './src/profile/profile-child.ts',
      'profile/agent': './src/profile/agent.ts',
    },
    waiting: ['profile/preload'],
    programs: ['main'],
    chunks: [{ name: 'command', test: COMMAND }],
  },
];

/** A path inside a package. */
export const inPackage = ({ folder }, ...path) => join(root, folder, ...path);

export const manifestOf = (one) => JSON.parse(readFileSync(inPackage(one, 'package.json'), 'utf8'));

/** Output names of the entries that a package exports: `index`, `archive/index`, ... */
const exported = (one) =>
  Object.values(manifestOf(one).exports)
    .filter((target) => typeof target === 'object')
    .map(({ require }) => require);

/** Output name -> source file, for every entry that a package exports. The package tests find one without a source. */
export function codeEntries(one) {
  const names = exported(one).map((target) => target.default.replace(/^\.\/dist\/cjs\/(.*)\.js$/, '$1'));
  const found = names.filter((name) => existsSync(inPackage(one, `src/${name}.ts`)));
  return Object.fromEntries(found.map((name) => [name, `./src/${name}.ts`]));
}

/** Output names of the entries that a package gives types for. */
export const typedEntries = (one) =>
  exported(one).map(({ types }) => types.replace(/^\.\/dist\/cjs\/(.*)\.d\.ts$/, '$1'));
