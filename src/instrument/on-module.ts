// Packages that publish no channel, to be patched as soon as a program has loaded them: by Node's own loader of CommonJS, which `import` of a
// CommonJS package goes through too, and by hooks for those that are ES modules. What neither sees is handed over by hand. A package whose exports
// cannot be replaced is patched where its own files take them from: in one of its files.
import Module, { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lookAlike } from '../base/calls/look-alike.js';
import { Counter, count } from '../local-span/counters.js';
import type { Off } from './channel.js';
import { onEsModules, withoutScheme } from './on-es-module.js';

/** Where an export is from; undefined where it was handed over. */
export type FileOf = () => string | undefined;
type Patch = (exports: never, fileOf: FileOf) => Off | undefined;
/** Newer lines of Node hand on more, which must reach it. */
type Load = (this: unknown, request: string, parent: unknown, ...rest: unknown[]) => unknown;

const loader = Module as unknown as { _load: Load };
const patches = new Map<string, Set<(exports: object, fileOf: FileOf) => void>>();
/** The packages whose main file or another one is waited for. */
let owners = new Set<string>();
let restore: Off | undefined;

const nameOwners = (): void => {
  owners = new Set([...patches.keys()].map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name));
};

/** Options of what is found when it is loaded. */
export interface ModuleOptions {
  /** The module itself, where it is loaded in a way that cannot be seen. */
  readonly module?: unknown;
}

const FOLDER = /[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)[\\/](?!.*[\\/]node_modules[\\/])/;

const folderOf = (path: string): string | undefined => FOLDER.exec(path)?.[1].replace('\\', '/');

/** `NAME/FILE` for what is at `path`. */
const fileAt = (path: string): string | undefined => {
  const found = FOLDER.exec(path);
  return found === null ? undefined : `${found[1]}/${path.slice(found.index + found[0].length)}`.replaceAll('\\', '/');
};

/** A file that is waited for, which may be asked for without its end. */
const fileWanted = (file: string | undefined): string | undefined =>
  file === undefined ? undefined : [file, `${file}.js`].find((one) => patches.has(one));

/** The package whose main file is at `path`. Its other files may export the same classes, to be patched once. */
const packageAt = (path: string): string | undefined => {
  const name = folderOf(path);
  if (name === undefined || !patches.has(name)) return undefined;
  try {
    return createRequire(path).resolve(name) === path ? name : undefined;
  } catch {
    return undefined;
  }
};

/** The file or the package that is waited for at `path`. */
const wantedAt = (path: string): string | undefined => fileWanted(fileAt(path)) ?? packageAt(path);

/** What a request is for: an ES module asks by path, and a file of the package itself, as `mysql2/promise`, for one beside it. */
const wantedBy = (request: string, parent: unknown): string | undefined => {
  const bare = withoutScheme(request);
  if (patches.has(bare)) return bare;
  if (!request.startsWith('.')) return fileWanted(request) ?? wantedAt(request);
  const { filename } = Object(parent) as { filename?: unknown };
  const own = typeof filename === 'string' ? folderOf(filename) : undefined;
  if (own === undefined || !owners.has(own)) return undefined;
  const file = fileWanted(fileAt(resolve(dirname(filename as string), request)));
  if (file !== undefined || !patches.has(own)) return file;
  return packageAt(createRequire(filename as string).resolve(request));
};

const apply = (name: string, exports: unknown, fileOf: FileOf): void => {
  const waiting = patches.get(name);
  if (waiting === undefined || ((typeof exports !== 'object' || exports === null) && typeof exports !== 'function'))
    return;
  for (const patch of waiting) patch(exports as object, fileOf);
};

/** Where a request of CommonJS leads. */
const fileAsked = (request: string, parent: unknown): string | undefined => {
  const { filename } = Object(parent) as { filename?: unknown };
  return typeof filename === 'string' ? createRequire(filename).resolve(request) : request;
};

const watch = (): Off => {
  const { _load: load } = loader;
  const watched: Load = function (request, parent, ...rest) {
    const exports = Reflect.apply(load, this, [request, parent, ...rest]);
    const name = typeof request === 'string' ? wantedBy(request, parent) : undefined;
    if (name !== undefined) apply(name, exports, () => fileAsked(request as string, parent));
    return exports;
  };
  loader._load = lookAlike(watched, load);
  const unhook = onEsModules(
    (name) => patches.has(name),
    (name, exports, url) => apply(name, exports, () => (url.startsWith('file:') ? fileURLToPath(url) : undefined)),
  );
  return () => {
    unhook?.();
    if (loader._load === watched) loader._load = load;
  };
};

const nowhere: FileOf = () => undefined;

/**
 * Calls `patch` with what the package `name` exports: `module`, what is loaded already, and what will be. Several copies are all patched. A name with a
 * path, as `graphql/language/parser.js`, is that of a file of CommonJS.
 */
export const onModule = <E extends object>(
  name: string,
  module: unknown,
  patch: (exports: E, fileOf: FileOf) => Off | undefined,
): Off => {
  const seen = new WeakSet<object>();
  const patched = new WeakSet<object>();
  const offs: Off[] = [];
  const once = (exports: object, fileOf: FileOf): void => {
    if (seen.has(exports)) return;
    seen.add(exports);
    // An ES module around one of CommonJS has the same classes, which must not be patched twice.
    if (patched.has(Object((exports as { default?: unknown }).default))) return;
    try {
      const off = (patch as Patch)(exports as never, fileOf);
      if (off === undefined) return;
      offs.push(off);
      patched.add(exports);
    } catch {
      count(Counter.instrumentationErrors);
    }
  };
  const waiting = patches.get(name) ?? new Set();
  waiting.add(once);
  patches.set(name, waiting);
  nameOwners();
  restore ??= watch();
  if (typeof module === 'object' && module !== null) {
    const { default: main } = module as { default?: unknown };
    if (typeof main === 'object' && main !== null) once(main, nowhere);
    once(module, nowhere);
  } else if (typeof module === 'function') once(module, nowhere);
  for (const [path, loaded] of Object.entries(createRequire(process.execPath).cache)) {
    if (loaded?.loaded === true && wantedAt(path) === name) apply(name, loaded.exports, () => path);
  }
  return () => {
    waiting.delete(once);
    if (waiting.size === 0) patches.delete(name);
    nameOwners();
    for (const off of offs.splice(0).reverse()) off();
    if (patches.size > 0) return;
    restore?.();
    restore = undefined;
  };
};
