// Routes of koa, which publishes nothing and has its routers from elsewhere: they leave what matched on koa's context, which is kept for the
// end of the answer. koa-mount cuts its prefix off the path meanwhile, and notes it there too. A piece of the path that no prefix names must not
// get into a route.
import type { IncomingMessage } from 'node:http';
import { WeakList } from '../base/maps/weak-list.js';
import type { Off } from './channel.js';
import { offerRoute } from './http/request-span.js';
import { type ModuleOptions, onModule } from './on-module.js';
import { onReturn, type Prototype } from './replace-method.js';

interface Layer {
  readonly path?: unknown;
  readonly methods?: readonly string[];
  readonly regexp?: unknown;
}
/** A prefix as it was entered, and the path in front of it. */
interface Mount {
  readonly prefix: unknown;
  readonly path: string;
}
const MOUNTS = Symbol('spanline.mounts');
/** As `@koa/router`, koa-router and koa-mount leave it. */
interface Context {
  readonly req: IncomingMessage;
  readonly path: string;
  readonly status: number;
  readonly matched?: readonly Layer[];
  /** The path of the layer that ran last, which may be a middleware's. */
  readonly _matchedRoute?: unknown;
  mountPath?: unknown;
  [MOUNTS]?: Mount[];
}

const isPath = (path: unknown): boolean => typeof path === 'string' || path instanceof RegExp;

/** The route of the layer that ran last, else the last one; middleware has no methods. */
const layerOf = ({ req: { method }, matched, _matchedRoute: last }: Context): Layer | undefined => {
  if (!Array.isArray(matched)) return isPath(last) ? { path: last } : undefined;
  let found: Layer | undefined;
  for (let i = 0; i < matched.length; i++) {
    const layer = matched[i] as Layer;
    if (method === undefined || !isPath(layer.path) || layer.methods?.includes(method) !== true) continue;
    if (layer.path === last) return layer;
    found = layer;
  }
  return found;
};

interface Place {
  readonly path: string;
  readonly prefix: string;
}

/** What the request was routed as: its path, and behind each prefix the rest of it, the last one first. */
const placesOf = ({ path, [MOUNTS]: mounts = [] }: Context): readonly Place[] => {
  const places: Place[] = [{ path: mounts[0]?.path ?? path, prefix: '' }];
  for (const { prefix, path: before } of mounts) {
    // It was entered in the nearest of those that were there.
    const outer = places.find((place) => place.path === before);
    if (outer === undefined || typeof prefix !== 'string' || !before.startsWith(prefix)) continue;
    places.unshift({ path: before.slice(prefix.length) || '/', prefix: outer.prefix + prefix.replace(/\/$/, '') });
  }
  return places;
};

const matches = ({ regexp }: Layer, path: string): boolean =>
  regexp instanceof RegExp && !regexp.global && !regexp.sticky && regexp.test(path);

const routeOf = (context: Context): string | undefined => {
  const layer = layerOf(context);
  // Most are in the application itself.
  if (layer !== undefined && context[MOUNTS] === undefined) return String(layer.path);
  const places = placesOf(context);
  // Something mounted has answered itself.
  if (layer === undefined) return context.status === 404 ? undefined : places[0].prefix || undefined;
  const { prefix } = places.find(({ path }) => matches(layer, path)) ?? { prefix: '' };
  const path = String(layer.path);
  return prefix !== '' && path === '/' ? prefix : prefix + path;
};

/** Contexts of an application have the entered prefixes under it. */
const MOUNT_PATH: PropertyDescriptor = {
  configurable: true,
  get(this: Context) {
    return this[MOUNTS]?.at(-1)?.prefix;
  },
  set(this: Context, prefix: unknown) {
    this[MOUNTS] ??= [];
    this[MOUNTS].push({ prefix, path: this.path });
  },
};

const stopWatching = (context: object): void => {
  if (Object.getOwnPropertyDescriptor(context, 'mountPath')?.set === MOUNT_PATH.set)
    Reflect.deleteProperty(context, 'mountPath');
};

/** koa 2 and 3, with the routers `@koa/router` and koa-router, and koa-mount. */
export const instrumentKoa = ({ module }: ModuleOptions): Off => {
  const seen = new WeakSet<object>();
  // Applications may go.
  const watched = new WeakList<object>();
  const keep = (context: Context, { context: all }: { readonly context?: unknown }): void => {
    offerRoute(context.req, () => routeOf(context));
    if (typeof all !== 'object' || all === null || seen.has(all)) return;
    seen.add(all);
    if ('mountPath' in all) return;
    Object.defineProperty(all, 'mountPath', MOUNT_PATH);
    watched.add(all);
  };
  const off = onModule<{ readonly prototype?: Prototype }>(
    'koa',
    module,
    ({ prototype }) => prototype && onReturn(prototype, 'createContext', keep),
  );
  return () => {
    off();
    for (const context of watched.first(Number.POSITIVE_INFINITY)) stopWatching(context);
  };
};
