// The route of a request of express, read from its own tables when the answer is complete: nothing runs while a request is routed. A piece of the
// path itself, such as `/users/7`, must not get into a route: there is one for every user. Where a template is not certain there is none.
import { getOrMake } from '../base/maps/maps.js';
import { WeakList } from '../base/maps/weak-list.js';
import { expressRoute, type RequestWithSpan } from './http/request-span.js';
import { pathOf } from './http/url.js';

export interface Router {
  readonly stack?: readonly Layer[];
}
export interface App {
  readonly _router?: Router;
  readonly router?: Router;
  /** Of express 4, whose `router` throws. */
  readonly lazyrouter?: unknown;
  readonly parent?: App;
}
/** What a router holds: a route, or something mounted. */
interface Layer {
  readonly handle?: unknown;
  readonly route?: object | undefined;
  /** What matched last, where `match` answers true. */
  readonly path?: unknown;
  /** As it was given, from router 2.3 on. */
  readonly rawPath?: unknown;
  /** Of express 4. */
  readonly regexp?: RegExp & { readonly fast_slash?: boolean };
  match(path: string): unknown;
}
/** A layer, and the router that it is in. */
interface Place {
  readonly owner: Router;
  readonly layer: Layer;
  /** What was found of it. */
  known?: KnownWays;
}
/** A way to a route from a router that nothing is known around: what is mounted in what, then the route. */
interface Way {
  readonly top: Router;
  readonly layers: readonly Layer[];
}

/** Bounds for tables that refer to themselves. */
const MAX_WAYS = 64;
const DEEPEST = 16;

// What is noted when things are added to routers (express.ts), or read from the routers of what was loaded before.
const places = new WeakMap<object, Place>();
/** Of routers and applications. A router that is mounted in many keeps none of them alive: each layer has its place. */
const mounts = new WeakMap<object, WeakList<Place>>();
const mountPlaces = new WeakMap<Layer, Place>();
const patterns = new WeakMap<Layer, unknown>();
const applications = new WeakMap<Router, App>();
/** What was found of a place, as long as nothing else has been mounted: most of what is read for a request is the same for the next. */
interface KnownWays {
  readonly at: number;
  readonly ways: readonly Way[];
  /** Where there is one way, by texts without parameters: the path in front of the route. */
  readonly plain: string | undefined;
  /** `plain` with a slash. */
  readonly prefix: string;
  /** The application of the last request, where its outermost router is the one that the way begins at. */
  app: App | undefined;
  /** The route behind it for its path `own`, made once: a text that is put together anew is read through wherever it is compared. */
  own: unknown;
  route: string | undefined;
}
let mountings = 0;
const subApplications = new WeakMap<Layer, App>();

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

const isRouter = (value: unknown): value is Router & Required<Router> =>
  isObject(value) && Array.isArray((value as Router).stack);

export const isApp = (value: unknown): value is App =>
  typeof value === 'function' && typeof (value as { set?: unknown }).set === 'function' && 'handle' in value;

export const routerOf = (app: App): Router | undefined =>
  app._router ?? (app.lazyrouter === undefined ? app.router : undefined);

export const stackOf = (router: Router | undefined): readonly Layer[] => (isRouter(router) ? router.stack : []);

/** What is mounted: a router, an application, a function. */
const mountedAt = (layer: Layer): unknown => subApplications.get(layer) ?? layer.handle;

const routerAt = (layer: Layer): Router | undefined => {
  const mounted = mountedAt(layer);
  return isApp(mounted) ? routerOf(mounted) : (mounted as Router | undefined);
};

/** `layer` of `owner` mounts something. */
const placeMount = (owner: Router, layer: Layer): void => {
  const mounted = mountedAt(layer);
  // No way to a route leads through a function: most of what is mounted.
  if (mountPlaces.has(layer) || !(isApp(mounted) || isRouter(mounted))) return;
  const place = { owner, layer };
  mountPlaces.set(layer, place);
  getOrMake(mounts, mounted, () => new WeakList<Place>()).add(place);
  mountings++;
};

/** Where a router or an application is mounted; of many the first ones. */
const mountsOf = (mounted: object | undefined, count: number): readonly Place[] =>
  (mounted === undefined ? undefined : mounts.get(mounted))?.first(count) ?? [];

/** What was added to `owner` behind its first `length` layers. */
export const placeLayers = (owner: Router, length = 0): void => {
  for (const layer of stackOf(owner).slice(length)) {
    if (layer.route === undefined) placeMount(owner, layer);
    else places.set(layer.route, { owner, layer });
  }
};

/** What was added behind the first `length` layers was mounted at `pattern`. */
export const notePattern = (router: Router, length: number, pattern: unknown): void => {
  for (const layer of stackOf(router).slice(length)) patterns.set(layer, pattern);
};

export const noteApplication = (router: Router, app: App): void => {
  if (applications.get(router) === app) return;
  applications.set(router, app);
  mountings++;
};

/** `layer` of `router` runs an application inside a function of its own. */
export const noteSubApplication = (router: Router, layer: Layer, sub: App): void => {
  subApplications.set(layer, sub);
  placeMount(router, layer);
};

/** All of a router that was filled unseen. */
const placeAll = (router: Router | undefined, depth = 0): void => {
  if (router === undefined || depth > DEEPEST) return;
  placeLayers(router);
  for (const layer of stackOf(router)) if (layer.route === undefined) placeAll(routerAt(layer), depth + 1);
};

// How express 4 writes a path without parameters.
const PLAIN = /^\^((?:\\\/[\w-]+)+)\\\/\?\(\?=\\\/\|\$\)$/;

/** The path at which something is mounted, as it was given. */
const patternOf = (layer: Layer): unknown => {
  const { rawPath, regexp } = layer;
  const given = patterns.get(layer) ?? rawPath;
  if (given !== undefined || regexp === undefined) return given;
  return regexp.fast_slash === true ? '/' : PLAIN.exec(regexp.source)?.[1].replaceAll('\\', '');
};

const hasState = (pattern: unknown): boolean => pattern instanceof RegExp && (pattern.global || pattern.sticky);

interface Match {
  readonly text: string;
  /** That of a list that matched, where the router gives it. */
  readonly pattern?: unknown;
}

/** What of `path` a layer takes. */
const matchOf = (layer: Layer, path: string): Match | undefined => {
  if (hasState(layer.route === undefined ? patternOf(layer) : (layer.route as { path?: unknown }).path))
    return undefined;
  try {
    const match = layer.match(path);
    const { path: text, pattern } = (match === true ? layer : Object(match)) as { path?: unknown; pattern?: unknown };
    return typeof text === 'string' && path.startsWith(text) ? { text, pattern } : undefined;
  } catch {
    // A path that cannot be decoded.
    return undefined;
  }
};

/** Where a walk along a path is. */
interface At {
  /** What has been taken from it, as express calls it `baseUrl`. */
  readonly base: string;
  readonly rest: string;
  readonly template: string;
}

const withoutSlash = (path: string): string => path.replace(/\/$/, '');

/** The template of what is mounted by `pattern`; undefined for what is not a path. */
const templateOf = (pattern: unknown): string | undefined => {
  const text = expressRoute('', pattern);
  return text === undefined || pattern instanceof RegExp ? text : withoutSlash(text);
};

/** Into what is mounted there; undefined where it is not, or its template is not known. */
const enter = ({ base, rest, template }: At, layer: Layer): At | undefined => {
  const match = matchOf(layer, rest);
  if (match === undefined) return undefined;
  const text = templateOf(match.pattern ?? patternOf(layer));
  if (text === undefined) return undefined;
  const left = rest.slice(match.text.length);
  return {
    base: base + withoutSlash(match.text),
    rest: left.startsWith('/') ? left : `/${left}`,
    template: template + text,
  };
};

/** All ways to `layer` in `owner`. */
const waysTo = (owner: Router, layers: readonly Layer[], depth = 0): readonly Way[] => {
  const around = [...mountsOf(owner, MAX_WAYS), ...mountsOf(applications.get(owner), MAX_WAYS)];
  if (around.length === 0 || depth > DEEPEST) return [{ top: owner, layers }];
  return around
    .slice(0, MAX_WAYS)
    .flatMap((place) => waysTo(place.owner, [place.layer, ...layers], depth + 1))
    .slice(0, MAX_WAYS);
};

// Of what both parsers of paths take as it stands.
const PLAIN_PATTERN = /^[\w/-]*$/;

const plainTemplate = ([way, ...others]: readonly Way[]): string | undefined => {
  const patterns = others.length > 0 ? [undefined] : way.layers.slice(0, -1).map(patternOf);
  const isPlain = patterns.every((pattern) => typeof pattern === 'string' && PLAIN_PATTERN.test(pattern));
  return isPlain ? patterns.map(templateOf).join('') : undefined;
};

const waysOf = (place: Place): KnownWays => {
  let { known } = place;
  if (known?.at !== mountings) {
    const ways = waysTo(place.owner, [place.layer]);
    const plain = plainTemplate(ways);
    const none = { app: undefined, own: undefined, route: undefined };
    known = { at: mountings, ways, plain, prefix: `${plain}/`, ...none };
    place.known = known;
  }
  return known;
};

/** Behind `plain` alone a walk along the path can find nothing else. */
const plainRoute = (known: KnownWays, plain: string, own: unknown): string | undefined => {
  // A list may be changed.
  if (typeof own !== 'string') return expressRoute(plain, own);
  if (known.own !== own) {
    known.own = own;
    known.route = expressRoute(plain, own);
  }
  return known.route;
};

const outermost = (app: App | undefined): Router | undefined => {
  let router = app === undefined ? undefined : routerOf(app);
  for (let depth = 0; router !== undefined && depth < DEEPEST; depth++) {
    const { parent } = applications.get(router) ?? (depth === 0 ? Object(app) : {});
    const [place = mountsOf(applications.get(router) ?? app, 1)[0]] = mountsOf(router, 1);
    const owner: Router | undefined = place?.owner ?? (parent === undefined ? undefined : routerOf(parent as App));
    if (owner === undefined || owner === router) return router;
    router = owner;
  }
  return router;
};

/** Where what is mounted at `base`, a piece of `path`, stands: the place without parameters before any other. */
const mountedUnder = (router: Router | undefined, base: string, at: At, depth = 0): At | undefined => {
  let found: At | undefined;
  for (const layer of stackOf(router)) {
    if (layer.route !== undefined || depth > DEEPEST) continue;
    const inside = enter(at, layer);
    if (inside === undefined || !`${base}/`.startsWith(`${inside.base}/`)) continue;
    const there = inside.base === base ? inside : mountedUnder(routerAt(layer), base, inside, depth + 1);
    if (there?.template === base) return there;
    found ??= there;
  }
  return found;
};

const START = { base: '', template: '' };

/** Places in `path` at which a way may begin: its start, and where a function is mounted that hands on to a router of its own. */
function* beginnings(router: Router | undefined, path: string): Generator<At> {
  yield { ...START, rest: path };
  for (let end = path.indexOf('/', 1); end > 0; end = path.indexOf('/', end + 1)) {
    const at = mountedUnder(router, path.slice(0, end), { ...START, rest: path });
    if (at !== undefined) yield at;
  }
}

const walk = (from: At, { layers }: Way): At | undefined => {
  let at: At | undefined = from;
  for (const layer of layers) {
    if (at === undefined) return undefined;
    at = layer.route === undefined ? enter(at, layer) : matchOf(layer, at.rest) && at;
  }
  return at;
};

/** The template around a route by its ways alone, where they agree. */
const agreed = (ways: readonly Way[]): string | undefined => {
  const templates = ways.map(({ layers }) => {
    const texts = layers.slice(0, -1).map((layer) => templateOf(patternOf(layer)));
    return texts.includes(undefined) ? undefined : texts.join('');
  });
  return templates.every((template) => template === templates[0]) ? templates[0] : undefined;
};

/** Paths without parameters at which something is mounted, as long as nothing else has been: to walk along the path finds each again. */
interface KnownMounts {
  readonly at: number;
  /** Templates, by themselves: one text each, which is read through once. */
  readonly templates: Map<string, string>;
}
const knownMounts = new WeakMap<App, KnownMounts>();

/** Where `path` goes through `base`, and what stands there is known for the application. */
const knownMount = (app: App, base: string, path: string): string | undefined => {
  const known = knownMounts.get(app);
  const template = known?.at === mountings ? known.templates.get(base) : undefined;
  return template !== undefined && isUnder(path, template) ? template : undefined;
};

const isUnder = (path: string, base: string): boolean =>
  path.startsWith(base) && (path.length === base.length || path.charCodeAt(base.length) === 0x2f);

/** Only what is mounted at texts: there are no more of them than the program has written. */
const keepMount = (app: App, base: string, template: string | undefined): void => {
  if (template !== base) return;
  let known = knownMounts.get(app);
  if (known?.at !== mountings) {
    known = { at: mountings, templates: new Map() };
    knownMounts.set(app, known);
  }
  known.templates.set(template, template);
};

const placeOf = (route: object, router: Router | undefined): Place | undefined => {
  if (!places.has(route)) placeAll(router);
  return places.get(route);
};

interface ExpressRequest extends RequestWithSpan {
  readonly app?: App;
  readonly originalUrl?: string;
}

/** The path that was asked for. */
const askedPath = (target: string): string => {
  if (!target.startsWith('/')) return pathOf(target);
  const end = target.indexOf('?');
  return end < 0 ? target : target.slice(0, end);
};

/** Behind texts without parameters, of an application that was asked before: nearly all requests. */
const knownRoute = (request: ExpressRequest): string | undefined => {
  const { route, baseUrl = '', app, originalUrl, url = '' } = request;
  const known = isObject(route) ? places.get(route)?.known : undefined;
  if (known === undefined || app === undefined || known.app !== app || known.at !== mountings) return undefined;
  const { plain, prefix } = known;
  if (plain === undefined || plain !== baseUrl) return undefined;
  const path = askedPath(originalUrl ?? url);
  if (path !== plain && !path.startsWith(prefix)) return undefined;
  return plainRoute(known, plain, (route as { path?: unknown }).path);
};

/** The template of the route that answered; undefined where there is none or it is not certain. */
export const readRoute = (request: RequestWithSpan): string | undefined => {
  const { route, baseUrl = '', app, originalUrl, url = '' } = request as ExpressRequest;
  if (route === undefined && baseUrl === '') return undefined;
  const found = knownRoute(request as ExpressRequest);
  if (found !== undefined) return found;
  const path = askedPath(originalUrl ?? url);
  const mount = !isObject(route) && isApp(app) ? knownMount(app, baseUrl, path) : undefined;
  if (mount !== undefined) return mount;
  const router = isApp(app) ? outermost(app) : undefined;
  const mounted = (): string | undefined => {
    if (baseUrl === '') return undefined;
    const template = mountedUnder(router, baseUrl, { ...START, rest: path })?.template;
    if (isApp(app)) keepMount(app, baseUrl, template);
    return template;
  };
  if (!isObject(route)) return mounted();
  const place = placeOf(route, router);
  const { path: own } = route as { path?: unknown };
  if (place === undefined) return baseUrl === '' ? expressRoute('', own) : mounted();
  const known = waysOf(place);
  const { ways, plain, prefix } = known;
  if (ways[0].top === router) known.app = app;
  // Most are in the application itself.
  if (baseUrl === '' && place.owner === router) return expressRoute('', own);
  const isBehind = plain === baseUrl && (path === plain || path.startsWith(prefix));
  if (isBehind && ways[0].top === router) return plainRoute(known, plain, own);
  // Behind a route that passed the request on, something else has answered.
  let passed: string | undefined;
  for (const from of beginnings(router, path)) {
    for (const way of ways) {
      const at = way.top === router && from.base !== '' ? undefined : walk(from, way);
      if (at === undefined) continue;
      if (baseUrl === '' || at.base === baseUrl) return expressRoute(at.template, own);
      passed ??= at.base;
    }
  }
  if (passed !== undefined) return mounted();
  // The address was rewritten.
  const around = agreed(ways);
  return around === undefined ? undefined : expressRoute(around, own);
};
