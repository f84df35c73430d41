// The one place that all copies of OpenTelemetry's API in a process share, whether they come as packages or inside bundles. Must read it alone:
// its writer is a copy, or src/register where there is none.
import type {
  Context,
  ContextManager,
  DiagLogger,
  MeterProvider,
  TextMapPropagator,
  TracerProvider,
} from '@opentelemetry/api';
import { guarded } from '../rows/property.js';
import { contexts } from './api-values.js';

/** What a copy sets by `setGlobal...` and `setLogger`. */
export interface ApiParts {
  trace?: TracerProvider;
  context?: ContextManager;
  propagation?: TextMapPropagator;
  metrics?: MeterProvider;
  diag?: DiagLogger;
}

/** A copy reads the parts unless it is newer than `version`, by its minor, and sets one where `version` is exactly its own. */
export interface ApiGlobal extends ApiParts {
  version: string;
}

/** Where it is, for copies of version 1. */
export const API = Symbol.for('opentelemetry.js.api.1');

const holder = globalThis as { [API]?: ApiGlobal };

/** Undefined until somebody sets a part. */
export const apiGlobal = (): ApiGlobal | undefined => holder[API];

/** As the API does where no manager is set. */
const NO_MANAGER: ContextManager = {
  active: () => contexts.root,
  with: (_, fn, thisArg, ...args) => Reflect.apply(fn, thisArg, args),
  bind: (_, target) => target,
  enable: () => NO_MANAGER,
  disable: () => NO_MANAGER,
};

const manager = (): ContextManager => holder[API]?.context ?? NO_MANAGER;

/** The current context, of any keeper. */
export const currentContext = (): Context => manager().active();

/** Call `fn` with `arg` while `context` is the current one. */
export const runWith = <T>(context: Context, fn: (arg: T) => unknown, arg: T): unknown =>
  manager().with(context, fn, undefined, arg);

// A part that nobody has set is not read: its getter may look at the caller.
const logger = (): DiagLogger | undefined => {
  const api = holder[API];
  return api !== undefined && Object.hasOwn(api, 'diag') ? api.diag : undefined;
};

/** What there is to say goes to the logger that the program has set in the API, whose failures are no failure of what is said. */
export const diag = {
  warn: (message: string): void => guarded(() => logger()?.warn(message)),
  error: (message: string): void => guarded(() => logger()?.error(message)),
};
