// Packages that are ES modules, seen when a program imports them: the file of the package that is imported gets a line that hands its exports
// over, one that is waited for by its path a line that hands functions over to be replaced, and Node's own are known by name. Only where Node has hooks that run in the program's own thread (from 22.15 and 23.5 on), and never on any other file.
//
// Hooks are on only while something is loaded: with them each `require` of a module of Node's own takes ten times as long, and programs have some in
// functions that they call for every request. Lines of Node with hooks announce each import on a channel.
import { randomBytes } from 'node:crypto';
import Module from 'node:module';
import { errorMessage } from '../span/arguments.js';
import { allOff, type Off, onMessage, quiet } from './channel.js';

interface Loaded {
  readonly format?: string | null | undefined;
  readonly source?: string | ArrayBuffer | NodeJS.ArrayBufferView | null | undefined;
}
type Next<C, R> = (subject: string, context: C) => R;
interface Hooks {
  resolve(name: string, context: object, next: Next<object, { readonly url: string }>): { readonly url: string };
  load(url: string, context: object, next: Next<object, Loaded>): Loaded;
}
type RegisterHooks = (hooks: Partial<Hooks>) => { deregister(): void };

const { registerHooks } = Module as unknown as { readonly registerHooks?: RegisterHooks };

// Both a property of the global object and a name in the file: each copy of this package has its own.
const HANDOVER = `spanline_${randomBytes(8).toString('hex')}`;

/** What was thrown when hooks were asked for; undefined until then, and where they are given. */
let refusal: string | undefined;
let isAsked = false;

/** Why hooks are refused where this Node has them: a test runner forbids them that loads modules by itself. */
export const hookRefusal = (): string | undefined => {
  if (isAsked || registerHooks === undefined) return refusal;
  isAsked = true;
  try {
    registerHooks({}).deregister();
  } catch (error) {
    refusal = errorMessage(error) ?? 'no reason was given';
  }
  return refusal;
};

/** Whether modules of this Node can be seen. */
export const canHook = (): boolean => registerHooks !== undefined && hookRefusal() === undefined;

/** Node's own modules have two names. */
export const withoutScheme = (name: string): string => (name.startsWith('node:') ? name.slice(5) : name);

const textOf = (source: Loaded['source']): string =>
  typeof source === 'string' ? source : Buffer.from(source as ArrayBuffer).toString('utf8');

/** A module may import itself, and sees its exports when it has run. */
const handingOver = (source: string, url: string, name: string): string =>
  `${source}\nimport * as ${HANDOVER} from ${JSON.stringify(url)};\nglobalThis.${HANDOVER}?.(${JSON.stringify(name)}, ${HANDOVER}, import.meta.url);\n`;

/** Functions of a file that others can put in place of its own: importers see what is there now. */
const exposing = (source: string, { file, functions }: EsFile): string => {
  const accessors = functions.map(
    (name) => `get ${name}() { return ${name}; }, set ${name}(value) { ${name} = value; }`,
  );
  return `${source}\nglobalThis.${HANDOVER}?.(${JSON.stringify(file)}, { ${accessors.join(', ')} }, import.meta.url);\n`;
};

/** A file that is waited for, and its functions that may be replaced. */
export interface EsFile {
  readonly file: string;
  readonly functions: readonly string[];
}

/**
 * Hooks for ES modules, which are on while something is loaded. A `require` may load some too: it has to begin and end them, where an import does so by
 * itself.
 */
export interface EsModules {
  begin(): void;
  end(): void;
  readonly off: Off;
}

/**
 * Calls `loaded` with the exports of each package that `isWanted` and that is imported, and with the functions of files that `fileAt` has; `undefined`
 * where this Node cannot.
 */
export const onEsModules = (
  isWanted: (name: string) => boolean,
  fileAt: (url: string) => EsFile | undefined,
  loaded: (name: string, exports: object, url: string) => void,
): EsModules | undefined => {
  if (registerHooks === undefined || !canHook()) return undefined;
  const names = new Map<string, string>();
  const handOver = quiet(loaded);
  const known = quiet(fileAt);
  Object.defineProperty(globalThis, HANDOVER, { configurable: true, value: handOver });
  const hooks: Hooks = {
    resolve(name, context, next) {
      const result = next(name, context);
      const bare = withoutScheme(name);
      if (!isWanted(bare)) return result;
      if (result.url.startsWith('node:')) handOver(bare, process.getBuiltinModule(bare) as object, result.url);
      else names.set(result.url, name);
      return result;
    },
    load(url, context, next) {
      const result = next(url, context);
      if (result.format !== 'module' || !result.source) return result;
      const file = known(url);
      const name = names.get(url);
      if (file === undefined && name === undefined) return result;
      const exposed = file === undefined ? textOf(result.source) : exposing(textOf(result.source), file);
      return { ...result, source: name === undefined ? exposed : handingOver(exposed, url, name) };
    },
  };
  let registered: { deregister(): void } | undefined;
  let loading = 0;
  const stop = (): void => {
    registered?.deregister();
    registered = undefined;
  };
  const begin = (): void => {
    if (loading++ === 0) registered = registerHooks(hooks);
  };
  const end = (): void => {
    if (--loading === 0) stop();
  };
  // One that began before is not ours to end.
  const imports = new WeakSet<object>();
  const off = allOff([
    () => Reflect.deleteProperty(globalThis, HANDOVER),
    stop,
    onMessage<object>('tracing:module.import:asyncEnd', (message) => {
      if (imports.delete(message)) end();
    }),
    onMessage<object>('tracing:module.import:start', (message) => {
      imports.add(message);
      begin();
    }),
  ]);
  return { begin, end, off };
};
