// The routes of express: a template with the prefixes of the routers around it, as they were mounted. A prefix of the path itself, such as
// `/users/7`, must not get into it: there is one for every user.
import type { IncomingMessage } from 'node:http';
import { allOff, type Off, onMessage, quiet } from './channel.js';
import { expressRoute, setRoute } from './http/request-span.js';
import { type ModuleOptions, onModule } from './on-module.js';
import { type Method, type Prototype, replaceMethod } from './replace-method.js';

const MOUNTED = Symbol('spanline.mounted');
const MOUNT = Symbol('spanline.mount');

interface Request extends IncomingMessage {
  readonly baseUrl?: string;
  readonly route?: { readonly path?: unknown };
  /** Templates of prefixes, where they differ. */
  [MOUNTED]?: Map<string, string>;
}

const templateOf = (request: Request, prefix: string): string => request[MOUNTED]?.get(prefix) ?? prefix;

/** Whether something mounted at `path` is to be remembered: most is not, since the path itself is the template. */
const isToldOf = (request: Request, path: string): boolean => request[MOUNTED] !== undefined || /[:*{(]/.test(path);

const enter = (request: Request, outer: string, prefix: string, path: string): void => {
  request[MOUNTED] ??= new Map();
  request[MOUNTED].set(prefix, templateOf(request, outer) + path.replace(/\/$/, ''));
};

const found = (request: Request, path: unknown): void => {
  const template = expressRoute(templateOf(request, request.baseUrl ?? ''), path);
  if (template !== undefined) setRoute(request, template);
};

interface Layer {
  readonly slash?: unknown;
  readonly rawPath?: unknown;
}
interface Message {
  readonly req: Request;
  readonly layer?: Layer;
  /** The pattern that matched: of a route, or of what is mounted. */
  readonly route?: unknown;
}

/** Handlers of a route are layers of their own inside of it, at `/`; what is mounted there says that it takes all below. */
const isHandler = ({ slash, rawPath }: Layer): boolean => rawPath === '/' && slash !== true;

/** The prefix around what is mounted at `path`; for a path of no certain length nothing is told of what stands around. */
const around = (prefix: string, path: string): string =>
  /[*{(]/.test(path)
    ? ''
    : prefix
        .split('/')
        .slice(0, 1 - path.replace(/\/$/, '').split('/').length)
        .join('/');

/** express 5, by router 2.3. */
const traceRouter = (): Off =>
  onMessage<Message>('tracing:express.router.request:start', ({ req, route, layer }) => {
    if (layer === undefined) return;
    if (isHandler(layer)) found(req, req.route?.path);
    else if (typeof route === 'string' && route !== '/' && isToldOf(req, route)) {
      const prefix = req.baseUrl ?? '';
      enter(req, around(prefix, route), prefix, route);
    }
  });

interface Layer4 {
  /** What matched. */
  readonly path?: unknown;
  [MOUNT]?: string;
}
interface Express4 {
  readonly Router?: Prototype;
  readonly Route?: { readonly prototype: Prototype };
}

/** Before what is called. */
const first =
  (listener: (self: unknown, args: readonly unknown[]) => void) =>
  (original: Method): Method => {
    const told = quiet<unknown, [unknown, readonly unknown[]]>(listener);
    return function (...args) {
      told(this, args);
      return Reflect.apply(original, this, args);
    };
  };

/** What is mounted remembers where. */
const rememberPath = (use: Method): Method => {
  const remember = quiet((stack: readonly Layer4[], length: number, path: unknown) => {
    if (typeof path !== 'string' || path === '/') return;
    for (const layer of stack.slice(length)) layer[MOUNT] = path;
  });
  return function (this: unknown, ...args) {
    const { stack = [] } = this as { stack?: readonly Layer4[] };
    const { length } = stack;
    const result = Reflect.apply(use, this, args);
    remember(stack, length, args[0]);
    return result;
  };
};

/** express 4, which publishes nothing. */
const patchExpress4 = ({ Router, Route }: Express4): Off | undefined => {
  if (typeof Router?.process_params !== 'function') return undefined;
  const mounted = first((_, args) => {
    const { [MOUNT]: path, path: matched } = args[0] as Layer4;
    const request = args[2] as Request;
    if (path === undefined || typeof matched !== 'string' || !isToldOf(request, path)) return;
    const { baseUrl = '' } = request;
    enter(request, baseUrl, (baseUrl + matched).replace(/\/$/, ''), path);
  });
  const dispatched = first((route, [request]) => found(request as Request, (route as { path?: unknown }).path));
  return allOff([
    replaceMethod(Router, 'use', rememberPath),
    replaceMethod(Router, 'process_params', mounted),
    replaceMethod(Route?.prototype, 'dispatch', dispatched),
  ]);
};

/** express 4 and 5. What is loaded before is read at the end of the answer, see `routeOf`. */
export const instrumentExpress = ({ module }: ModuleOptions): Off =>
  allOff([traceRouter(), onModule<Express4>('express', module, patchExpress4)]);
