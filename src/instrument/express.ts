// express as it is traced: what is added to its routers is noted, so that the route of a request can be read when it is over (express-routes.ts). Nothing
// here may run while a request is routed.
import { allOff, type Off, quiet } from './channel.js';
import {
  type App,
  isApp,
  noteApplication,
  notePattern,
  noteSubApplication,
  placeLayers,
  type Router,
  readRoute,
  routerOf,
  stackOf,
} from './express-routes.js';
import { onRoute } from './http/request-span.js';
import { type ModuleOptions, onModule } from './on-module.js';
import { type Method, onReturn, type Prototype, replaceMethod } from './replace-method.js';

/** A method of a router that adds layers: `see` gets how many there were before, and what it is called with first. */
const adding =
  (see: (router: Router, length: number, given: unknown) => void) =>
  (add: Method): Method =>
    function (this: unknown, ...args) {
      const { length } = stackOf(this as Router);
      const result = Reflect.apply(add, this, args);
      quiet(see)(this as Router, length, args[0]);
      return result;
    };

/** `use` of a router: what is added gets its place. */
const seeUse = (router: Router, length: number, given: unknown): void => {
  let first = given;
  while (Array.isArray(first) && first.length > 0) first = first[0];
  const pattern = typeof first === 'function' ? '/' : given;
  notePattern(router, length, pattern);
  placeLayers(router, length);
};

/** A method of an application that has a router behind it. */
const seeRouter = (_: unknown, app: App): void => {
  const router = routerOf(app);
  if (router !== undefined) noteApplication(router, app);
};

/** `use` of an application, which mounts others inside functions of its own. */
const seeAppUse = (_: unknown, app: App, args: readonly unknown[]): void => {
  const router = routerOf(app);
  if (router === undefined) return;
  noteApplication(router, app);
  const mounted = args.flat(Number.POSITIVE_INFINITY).filter((one) => typeof one === 'function');
  // express 4 begins each router with two layers of its own.
  stackOf(router)
    .slice(-mounted.length)
    .forEach((layer, i) => {
      const sub = mounted[i];
      if (isApp(sub)) noteSubApplication(router, layer, sub);
    });
};

interface Express {
  readonly Router?: Prototype & { readonly prototype?: Prototype };
  readonly application?: Prototype;
}

/** Both versions: routers of express 4 are functions whose prototype is `Router` itself. */
const patchExpress = ({ Router, application }: Express): Off | undefined => {
  if (Router === undefined || application === undefined) return undefined;
  const router = typeof Router.use === 'function' ? Router : Router.prototype;
  return allOff([
    replaceMethod(router, 'use', adding(seeUse)),
    replaceMethod(router, 'route', adding(placeLayers)),
    onReturn(application, 'use', seeAppUse),
    onReturn(application, 'lazyrouter', seeRouter),
    onReturn(application, 'route', seeRouter),
  ]);
};

/** express 4 and 5. */
export const instrumentExpress = ({ module }: ModuleOptions): Off =>
  allOff([onRoute(readRoute), onModule<Express>('express', module, patchExpress)]);
