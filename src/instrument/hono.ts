// Routes of hono, which publishes nothing: the handlers that its routers are given are wrapped, and say their route when they are called. On
// Node's server alone, which hands the request of Node on. A router of its own that a program gives an application is seen by its package's name.
import type { IncomingMessage } from 'node:http';
import { lookAlike } from '../base/calls/look-alike.js';
import { Counter, count } from '../rows/counters.js';
import { allOff, type Off } from './channel.js';
import { setRoute } from './http/request-span.js';
import { type ModuleOptions, onModule } from './on-module.js';
import { type Method, ownerOf, type Prototype, prototypeOf, SeenClasses } from './replace-method.js';

type Handler = (context: Context, next: unknown) => unknown;
interface Context {
  readonly env?: { readonly incoming?: IncomingMessage };
}
interface Route {
  readonly path: string;
  readonly method: string;
  readonly handler: Handler;
}
/** Of applications and of routers. */
type Class = (new () => { readonly router?: object }) & { readonly prototype?: Prototype };

/** What has applications or routers of its own. */
const MODULES = [
  'hono/hono-base',
  'hono/quick',
  'hono/tiny',
  ...['linear', 'pattern', 'reg-exp', 'smart', 'trie'].map((name) => `hono/router/${name}-router`),
];

// What hono keeps of a handler that it has put the `onError` of a sub-application around.
const INNER = '__COMPOSED_HANDLER';

const innermost = (handler: Handler): Handler => {
  let inner = handler;
  for (let next: unknown = inner; typeof next === 'function'; next = (inner as { [INNER]?: unknown })[INNER])
    inner = next as Handler;
  return inner;
};

const isEntry = (entry: unknown): entry is readonly [Handler, Route] =>
  Array.isArray(entry) && typeof entry[0] === 'function' && typeof (entry[1] as Route | undefined)?.path === 'string';

/** Not by `quiet`, which makes a list of arguments for each call. */
const sayRoute = (context: Context, path: string): void => {
  try {
    const incoming = context.env?.incoming;
    if (incoming !== undefined) setRoute(incoming, path);
  } catch {
    count(Counter.instrumentationErrors);
  }
};

const sayingRoute = ([handler, route]: readonly [Handler, Route]): readonly [Handler, Route] => {
  const wrapped = function (this: unknown, context: Context, next: unknown): unknown {
    sayRoute(context, route.path);
    return Reflect.apply(handler, this, [context, next]);
  };
  return [lookAlike(wrapped, handler), route];
};

const hasMethods = (prototype: Prototype | undefined, ...names: readonly string[]): prototype is Prototype =>
  names.every((name) => typeof prototype?.[name] === 'function');

/** hono 4, with its own routers. */
export const instrumentHono = ({ module }: ModuleOptions): Off => {
  const classes = new SeenClasses();
  // Applications of others that are mounted look like middleware.
  const mounted = new WeakSet<Handler>();
  let isMounting = false;
  // A router may hand on to another one what it has been given.
  const wrapped = new WeakSet<Handler>();

  /** Middleware takes `next`, for all methods. */
  const isMiddleware = ({ method, handler }: Route): boolean => {
    const inner = innermost(handler);
    return method === 'ALL' && inner.length > 1 && !mounted.has(inner);
  };

  const seeAdd = (add: Method): Method =>
    function (method, path, entry) {
      if (!isEntry(entry) || wrapped.has(entry[0])) return Reflect.apply(add, this, [method, path, entry]);
      if (isMounting) mounted.add(entry[0]);
      if (isMiddleware(entry[1])) return Reflect.apply(add, this, [method, path, entry]);
      const saying = sayingRoute(entry);
      wrapped.add(saying[0]);
      return Reflect.apply(add, this, [method, path, saying]);
    };

  const seeMount = (mount: Method): Method =>
    function (...args) {
      isMounting = true;
      try {
        return Reflect.apply(mount, this, args);
      } finally {
        isMounting = false;
      }
    };

  const seeRouter = (prototype: Prototype | undefined): void => {
    // A method, a path and a handler: sets have an `add` too.
    if (hasMethods(prototype, 'add') && prototype.add.length === 3)
      classes.replace(ownerOf(prototype, 'add'), 'add', seeAdd);
  };

  const see = (exports: object): undefined => {
    for (const one of Object.values(exports) as Class[]) {
      if (typeof one !== 'function') continue;
      const { prototype } = one;
      seeRouter(prototype);
      if (!hasMethods(prototype, 'mount', 'basePath')) continue;
      // What `basePath` gives is of the class that all applications share.
      classes.replace(ownerOf(prototype, 'mount'), 'mount', seeMount);
      seeRouter(prototypeOf(new one().router));
    }
  };

  return allOff([...MODULES.map((name) => onModule(name, undefined, see)), onModule('hono', module, see), classes.off]);
};
