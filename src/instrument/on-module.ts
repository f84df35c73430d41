// Packages that publish no channel, to be patched as soon as a program has loaded them: by Node's own loader of CommonJS, which `import` of a
// CommonJS package goes through too, and by hooks for those that are ES modules. What neither sees is handed over by hand. A package whose exports
// cannot be replaced is patched where its own files take them from: in one of its files.
import Module, { createRequire, isBuiltin } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { attempt } from '../base/calls/attempt.js';
import { getOrMake } from '../base/maps/maps.js';
import { Counter, count } from '../rows/counters.js';
import type { Off } from './channel.js';
import { type EsFile, onEsModules, withoutScheme } from './on-es-module.js';
import { type Prototype, putMethod } from './replace-method.js';

/** Where an export is from; undefined where it was handed over. */
export type FileOf = () => string | undefined;
type Patch = (exports: never, fileOf: FileOf) => Off | undefined;
/** Of what is asked for, and of who asks. Newer lines of Node hand on more, which must reach it. */
type Load = (this: unknown, ...args: [request: string, parent: unknown, ...rest: unknown[]]) => unknown;

const loader = Module as unknown as { _load: Load };
const { cache: loadedModules } = createRequire(process.execPath);
const patches = new Map<string, Set<(exports: object, fileOf: FileOf) => void>>();
/** The packages whose main file or another one is waited for. */
let owners = new Set<string>();
let restore: Off | undefined;

const ownerOf = (name: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name;

/** Options of what is found when it is loaded. */
export interface ModuleOptions {
  /** The module itself, where it is loaded in a way that cannot be seen. */
  readonly module?: unknown;
}

const FOLDER = /[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)[\\/](?!(?:.*[\\/])?node_modules[\\/])/;

/** A file of a package. */
interface Place {
  readonly name: string;
  /** Where the package is. */
  readonly folder: string;
  readonly file: string;
}

const placeOf = (path: string): Place | undefined => {
  const found = FOLDER.exec(path);
  if (found === null) return undefined;
  const end = found.index + found[0].length;
  return { name: found[1].replace('\\', '/'), folder: path.slice(0, end - 1), file: path.slice(end) };
};

/** Main files by folders of packages; empty where there is none. */
const mains = new Map<string, string>();

const mainOf = ({ name, folder }: Place): string =>
  getOrMake(mains, folder, () => attempt(() => createRequire(join(folder, 'package.json')).resolve(name)) ?? '');

/** A file that is waited for, which may be asked for without its end. */
const fileWanted = (file: string): string | undefined => {
  if (patches.has(file)) return file;
  const whole = `${file}.js`;
  return patches.has(whole) ? whole : undefined;
};

const fileOfPackage = (name: string, file: string): string | undefined =>
  fileWanted(`${name}/${file.replaceAll('\\', '/')}`);

/** What is waited for at `path`: a file, or a package by its main file. Its other files may export the same classes, to be patched once. */
const wantedAt = (path: string): string | undefined => {
  const place = placeOf(path);
  if (place === undefined || !owners.has(place.name)) return undefined;
  const { name, file } = place;
  return fileOfPackage(name, file) ?? (patches.has(name) && mainOf(place) === path ? name : undefined);
};

/** What a file of a package asks for beside it. */
const wantedBeside = (filename: string, request: string): string | undefined => {
  const own = placeOf(filename);
  if (own === undefined || !owners.has(own.name)) return undefined;
  const { name, folder } = own;
  const path = resolve(dirname(filename), request);
  const file = path.startsWith(folder) ? fileOfPackage(name, path.slice(folder.length + 1)) : undefined;
  if (file !== undefined || !patches.has(name)) return file;
  const isMain = path === folder || [path, `${path}.js`, join(path, 'index.js')].includes(mainOf(own));
  return isMain ? name : undefined;
};

/** What a request is for: an ES module asks by path, and a file of the package itself, as `mysql2/promise`, for one beside it. */
const wantedBy = (request: string, parent: unknown): string | undefined => {
  const bare = withoutScheme(request);
  if (patches.has(bare)) return bare;
  if (isBuiltin(request)) return undefined;
  if (!request.startsWith('.')) return fileWanted(request) ?? wantedAt(request);
  const { filename } = Object(parent) as { filename?: unknown };
  return typeof filename === 'string' ? wantedBeside(filename, request) : undefined;
};

/** Packages whose exports are asked for as a copy that can be changed, and the copies. */
const copied = new Set<string>();
const copies = new WeakMap<object, object>();

/** A bundler may give exports that nobody can replace. */
const changeable = (exports: object): object =>
  getOrMake(copies, exports, () => {
    const values = Object.entries(exports).map(([name, value]) => [
      name,
      { value, configurable: true, enumerable: true, writable: true },
    ]);
    return Object.create(Object.getPrototypeOf(exports), {
      ...Object.getOwnPropertyDescriptors(exports),
      ...Object.fromEntries(values),
    });
  });

/** What a program gets that asks for the package. */
const asGiven = (name: string, exports: unknown): unknown =>
  copied.has(name) && typeof exports === 'object' && exports !== null ? changeable(exports) : exports;

const apply = (name: string, exports: unknown, fileOf: FileOf): void => {
  const waiting = patches.get(name);
  if (waiting === undefined || ((typeof exports !== 'object' || exports === null) && typeof exports !== 'function'))
    return;
  for (const patch of waiting) patch(exports as object, fileOf);
};

/** Functions of files that are ES modules, by the file. */
const functionsOf = new Map<string, readonly string[]>();

const esFileAt = (url: string): EsFile | undefined => {
  if (!url.startsWith('file:')) return undefined;
  const place = placeOf(fileURLToPath(url));
  if (place === undefined || !owners.has(place.name)) return undefined;
  const file = fileOfPackage(place.name, place.file);
  const functions = file === undefined ? undefined : functionsOf.get(file);
  return functions === undefined ? undefined : { file: file as string, functions };
};

/** What was imported, and how to find it: nobody imports it again for an instrumentation that is switched on later. */
const imported = new Map<string, Map<object, FileOf>>();

const handedOver = (name: string, exports: object, url: string): void => {
  const fileOf = (): string | undefined => (url.startsWith('file:') ? fileURLToPath(url) : undefined);
  getOrMake(imported, name, () => new Map<object, FileOf>()).set(exports, fileOf);
  apply(name, exports, fileOf);
};

/** Where a request of CommonJS leads. */
const fileAsked = (request: string, parent: unknown): string | undefined => {
  const { filename } = Object(parent) as { filename?: unknown };
  return typeof filename === 'string' ? createRequire(filename).resolve(request) : request;
};

/** What was asked for before, by folder and request: it is loaded. Beyond the bound each costs some microseconds. */
const askedBefore = new Set<string>();
const MAX_ASKED = 16_384;

const askedFrom = (request: string, parent: unknown): string =>
  `${String((Object(parent) as { path?: unknown }).path)}\0${request}`;

/** A program may ask for the same in each request that it answers. */
const mayLoad = (request: string, parent: unknown): boolean =>
  !isBuiltin(request) && !askedBefore.has(askedFrom(request, parent));

/** Nothing of what is asked for is waited for, nor can be: most of what programs ask for again are modules of Node's own. */
const isNobodys = (request: unknown): boolean =>
  typeof request !== 'string' || (isBuiltin(request) && !patches.has(withoutScheme(request)));

const noteAsked = (request: string, parent: unknown): void => {
  if (askedBefore.size < MAX_ASKED) askedBefore.add(askedFrom(request, parent));
};

const watch = (): Off => {
  const { _load: load } = loader;
  const watched: Load = function (...args) {
    const [request, parent] = args;
    if (isNobodys(request)) return Reflect.apply(load, this, args);
    let exports: unknown;
    if (modules !== undefined && mayLoad(request, parent)) {
      modules.begin();
      try {
        exports = Reflect.apply(load, this, args);
      } finally {
        modules.end();
      }
      noteAsked(request, parent);
    } else exports = Reflect.apply(load, this, args);
    const name = wantedBy(request, parent);
    if (name === undefined) return exports;
    const given = asGiven(name, exports);
    apply(name, given, () => fileAsked(request, parent));
    return given;
  };
  const putBack = putMethod(loader, '_load', watched);
  const modules = onEsModules((name) => patches.has(name), esFileAt, handedOver);
  return () => {
    modules?.off();
    mains.clear();
    askedBefore.clear();
    putBack();
  };
};

const nowhere: FileOf = () => undefined;

/**
 * Calls `patch` with what the package `name` exports: `module`, what is loaded already, and what will be. Several copies are all patched. A name with a
 * path, as `graphql/language/parser.js`, is that of a file.
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
  const owner = ownerOf(name);
  owners.add(owner);
  const folder = owner.slice(owner.indexOf('/') + 1);
  restore ??= watch();
  if (typeof module === 'object' && module !== null) {
    const { default: main } = module as { default?: unknown };
    if (typeof main === 'object' && main !== null) once(main, nowhere);
    once(module, nowhere);
    // A class or a function that is all of a package: an ES module around it may have nothing to patch.
    if (typeof main === 'function' && !patched.has(module)) once(main, nowhere);
  } else if (typeof module === 'function') once(module, nowhere);
  for (const [path, loaded] of Object.entries(loadedModules)) {
    // Whether it may be, first: each library asks for all that is loaded.
    if (path.includes(folder) && loaded?.loaded === true && wantedAt(path) === name)
      apply(name, asGiven(name, loaded.exports), () => path);
  }
  for (const [exports, fileOf] of imported.get(name) ?? []) once(exports, fileOf);
  return () => {
    waiting.delete(once);
    if (waiting.size === 0) patches.delete(name);
    owners = new Set([...patches.keys()].map(ownerOf));
    for (const off of offs.splice(0).reverse()) off();
    if (patches.size > 0) return;
    restore?.();
    restore = undefined;
  };
};

/** The same where what a package exports may be fixed: its importers get a copy that can be changed. */
export const onCopy = <E extends object>(
  name: string,
  module: unknown,
  patch: (exports: E, fileOf: FileOf) => Off | undefined,
): Off => {
  copied.add(name);
  return onModule(name, module, patch);
};

/** The same of the `functions` of one file of a package, `NAME/PATH`, also where it is an ES module: there nothing else of it can be replaced. */
export const onFile = (
  file: string,
  functions: readonly string[],
  patch: (exports: Prototype, fileOf: FileOf) => Off | undefined,
): Off => {
  functionsOf.set(file, functions);
  return onModule<Prototype>(file, undefined, patch);
};
