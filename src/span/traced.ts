// traced() and trace(): functions that record themselves. One import serves as wrapper, as TC39 decorator and as legacy
// (experimentalDecorators) decorator. Wrong options throw where the function is defined, never where it is called.
//
// At the end the name of a traced method: the class that declares it, not that of the object it is called on, and the method's own. Looked up at the first
// call, because a decorator runs before its class exists. What a proxy throws meanwhile is not felt.
import { lookAlike } from '../base/calls/look-alike.js';
import { state } from '../context/process-state.js';
import { recordingQueue } from '../local-span/local-span.js';
import { wrongArgument } from '../rows/counters.js';
import { Span } from './span.js';
import {
  type Arguments,
  checkForKind,
  checkOptions,
  type FunctionKind,
  functionKind,
  isClass,
  nameAlone,
  type TracedOptions,
  wrongPlace,
} from './traced-options.js';
import {
  type AnyFunction,
  failLocal,
  type SpanName,
  wrapAsync,
  wrapAsyncGenerator,
  wrapGenerator,
  wrapSync,
} from './wrap-function.js';

/** What `traced(options)` gives: a decorator of either kind. */
export interface TracedDecorator<A extends Arguments = Arguments> {
  // TC39: method, getter, setter, field.
  <This, F extends (this: This, ...args: A) => unknown>(value: F, context: ClassMethodDecoratorContext<This, F>): F;
  <This, V>(value: (this: This) => V, context: ClassGetterDecoratorContext<This, V>): (this: This) => V;
  <This, V>(
    value: (this: This, v: V) => void,
    context: ClassSetterDecoratorContext<This, V>,
  ): (this: This, v: V) => void;
  <This, F>(value: undefined, context: ClassFieldDecoratorContext<This, F>): (this: This, initial: F) => F;
  // Legacy: method, getter, setter.
  // biome-ignore lint/suspicious/noExplicitAny: a decorator of a getter has no function type to name.
  (target: object, key: string | symbol, descriptor: TypedPropertyDescriptor<any>): void;
}

const WRAPPERS: Readonly<
  Record<FunctionKind, (fn: AnyFunction, nameOf: SpanName, options: TracedOptions) => AnyFunction>
> = {
  sync: wrapSync,
  async: wrapAsync,
  generator: wrapGenerator,
  'async generator': wrapAsyncGenerator,
};

const A_CLASS = 'a class, not a function to call';

const wrap = (fn: AnyFunction, nameOf: SpanName, options: TracedOptions): AnyFunction => {
  if (isClass(fn)) return wrongPlace(A_CLASS);
  const own = functionKind(fn);
  checkForKind(options, own);
  const wrapped = WRAPPERS[own === 'sync' && options.async ? 'async' : own](fn, nameOf, options);
  try {
    lookAlike(wrapped, fn);
    // What `new`, or a call of a generator function, makes is on it.
    if (Object.hasOwn(fn, 'prototype')) wrapped.prototype = fn.prototype;
  } catch {
    // A proxy whose trap throws keeps the rest to itself.
  }
  return wrapped;
};

const wrapMethod = (fn: AnyFunction, key: string | symbol, options: TracedOptions, by: DeclaredBy): AnyFunction => {
  const wrapped: AnyFunction = wrap(
    fn,
    methodName(key, options, by, () => wrapped),
    options,
  );
  return wrapped;
};

const decorateStandard = (value: unknown, context: DecoratorContext, options: TracedOptions): unknown => {
  const { kind, name, metadata } = context;
  if (kind === 'field') {
    return (initial: unknown) =>
      typeof initial === 'function'
        ? wrap(initial as AnyFunction, () => options.name ?? String(name), options)
        : wrongPlace(`the field ${String(name)}, which holds no function`);
  }
  if (kind !== 'method' && kind !== 'getter' && kind !== 'setter') return wrongPlace(`a ${kind}`);
  return wrapMethod(value as AnyFunction, name, options, { metadata });
};

// Older decorators see a getter and its setter as one and do not get which of them they stand at: both are traced.
const decorateLegacy = (
  target: object,
  key: string | symbol,
  descriptor: PropertyDescriptor | undefined,
  options: TracedOptions,
): void => {
  let isDecorated = false;
  for (const part of ['value', 'get', 'set'] as const) {
    const fn = descriptor?.[part];
    if (descriptor === undefined || typeof fn !== 'function') continue;
    descriptor[part] = wrapMethod(fn as AnyFunction, key, options, { target });
    isDecorated = true;
  }
  if (!isDecorated)
    wrongPlace(isClass(target) && key === undefined ? A_CLASS : `${String(key)}, which is not a method`);
};

const decorator =
  (options: TracedOptions) =>
  (target: unknown, contextOrKey: DecoratorContext | string | symbol, descriptor?: PropertyDescriptor): unknown =>
    typeof contextOrKey === 'object'
      ? decorateStandard(target, contextOrKey, options)
      : decorateLegacy(target as object, contextOrKey, descriptor, options);

// `@traced` alone: called with (method, context) by standard decorators, with (prototype, key, descriptor) by the older ones.
const isDecoratorCall = (first: unknown, second: unknown): boolean =>
  typeof first !== 'string' &&
  (typeof second === 'string' || typeof second === 'symbol' || (typeof second === 'object' && second !== null));

const ownName = (fn: object): string => {
  try {
    const { name } = fn as { name?: unknown };
    return typeof name === 'string' && name !== '' ? name : 'anonymous';
  } catch {
    return 'anonymous';
  }
};

/**
 * Make a function or method record itself whenever it runs under a span.
 *
 * A synchronous function becomes a local span; an async one, a generator or an async generator becomes a span of its own
 * and the local parent of what it does. As wrapper it takes a name (or options) and a function; as decorator, options.
 *
 * Throws `ERR_SPANLINE_OPTION` at definition time, naming the wrong option.
 *
 * @example
 * ```ts
 * class Store {
 *   \@traced({ name: 'read', properties: (table: string) => ({ table }) })
 *   async readRows(table: string) { return [table]; }
 * }
 * const parse = traced('parse', (text: string) => JSON.parse(text));
 * ```
 */
export function traced<F extends AnyFunction>(name: string, fn: F): F;
export function traced<F extends AnyFunction>(options: TracedOptions<Parameters<F>>, fn: F): F;
export function traced<F extends AnyFunction>(fn: F): F;
export function traced<A extends Arguments = Arguments>(options?: TracedOptions<A>): TracedDecorator<A>;
export function traced(first: unknown = {}, second?: unknown): unknown {
  if (isDecoratorCall(first, second)) {
    return wrongPlace(isClass(first) && typeof second === 'object' ? A_CLASS : 'without parentheses: write @traced()');
  }
  const isFunction = typeof first === 'function';
  const options: unknown = typeof first === 'string' ? { name: first } : isFunction ? {} : first;
  checkOptions(options);
  const checked = options as TracedOptions;
  const fn = isFunction ? first : second;
  if (fn === undefined) return typeof first === 'string' ? nameAlone(first) : decorator(checked);
  if (typeof fn !== 'function') return wrongPlace(typeof fn === 'object' ? 'an object' : String(fn));
  const name = checked.name ?? ownName(fn);
  return wrap(fn as AnyFunction, () => name, checked);
}

// `trace(fn)` still runs it: work must not be lost with its span.
const noWork = <T>(name: unknown, fn: unknown): T => {
  wrongArgument("trace takes a name and a function: trace('parse', () => parse(text)).");
  return typeof name === 'function' ? name() : (fn as T);
};

/**
 * Run a function inside a span: a local span for a synchronous one, a span of its own for an `async` one. Gives what the
 * function gives. A plain function that returns a promise is synchronous: its local span ends at the return.
 *
 * @example
 * ```ts
 * const root = Span.root('job');
 * await root.run(async () => {
 *   const rows = await trace('read', async () => [1, 2, 3]);
 *   trace('sum', () => rows.reduce((a, b) => a + b, 0));
 * });
 * root.end();
 * ```
 */
export const trace = <T>(name: string, fn: () => T): T => {
  if (typeof fn !== 'function') return noWork(name, fn);
  if (!state.enabled) return fn();
  if (functionKind(fn) === 'async') {
    const span = Span.startWithLocalParent(name);
    return span.isRecording ? span.runToEnd(fn) : fn();
  }
  const queue = recordingQueue();
  if (queue === undefined) return fn();
  const span = queue.start(name);
  try {
    return fn();
  } catch (error) {
    failLocal(span, error);
    throw error;
  } finally {
    span.end();
  }
};

/** What a decorator has of the class: the object it was given (legacy), or the class's metadata (standard, if any). */
interface DeclaredBy {
  readonly target?: object;
  readonly metadata?: unknown;
}

// Wrappers of methods: a class that owns another one under the key is another class.
const wrappers = new WeakSet<object>();

/** The name for the wrapper that `wrapped` gives once it is made. */
const methodName = (key: string | symbol, options: TracedOptions, by: DeclaredBy, wrapped: () => object): SpanName => {
  const { name, shortName } = options;
  if (name !== undefined) return () => name;
  const short = String(typeof key === 'symbol' ? (key.description ?? 'symbol') : key);
  if (shortName) return () => short;
  let full = '';
  let isExact = false;
  let fullFor: unknown;
  const find = (self: unknown): string => {
    const receiver = constructorOf(self);
    if (full !== '' && fullFor === receiver) return full;
    wrappers.add(wrapped());
    const declaring =
      by.target === undefined ? declaringClass(self, by.metadata, key, wrapped()) : constructorOf(by.target);
    isExact = declaring !== undefined;
    // Below another decorator, without metadata, or private: the nearest class that has the key, or that of `this`.
    fullFor = receiver;
    full = `${classNameOf(declaring ?? owner(self, key) ?? receiver)}.${short}`;
    return full;
  };
  return (self) => {
    if (isExact) return full;
    try {
      return find(self);
    } catch {
      return `anonymous.${short}`;
    }
  };
};

const constructorOf = (self: unknown): unknown =>
  typeof self === 'function' ? self : (self as { constructor?: unknown } | null | undefined)?.constructor;

const classNameOf = (found: unknown): string => {
  const name = typeof found === 'function' ? found.name : undefined;
  return typeof name === 'string' && name !== '' ? name : 'anonymous';
};

function* chain(self: unknown): Generator<object> {
  if (self === undefined || self === null) return;
  for (let at: object | null = Object(self); at !== null; at = Object.getPrototypeOf(at)) yield at;
}

const functionsOf = (at: object, key: string | symbol): readonly object[] => {
  const own = Object.getOwnPropertyDescriptor(at, key);
  return [own?.value, own?.get, own?.set].filter((one) => typeof one === 'function');
};

const metadataOf = (declaring: object): unknown => {
  // Compilers use the registered symbol where the language has none yet.
  const key = (Symbol as { metadata?: symbol }).metadata ?? Symbol.for('Symbol.metadata');
  return Object.getOwnPropertyDescriptor(declaring, key)?.value;
};

/** The class with this metadata, or whose prototype (or itself for a static method) has the wrapper; undefined when none. */
const declaringClass = (self: unknown, metadata: unknown, key: string | symbol, wrapped: object): unknown => {
  for (const at of chain(self)) {
    if (functionsOf(at, key).includes(wrapped)) return constructorOf(at);
    const declaring = constructorOf(at);
    if (metadata !== undefined && typeof declaring === 'function' && metadataOf(declaring) === metadata)
      return declaring;
  }
  return undefined;
};

const owner = (self: unknown, key: string | symbol): unknown => {
  for (const at of chain(self)) {
    const own = functionsOf(at, key);
    if (own.length > 0 && !own.some((one) => wrappers.has(one))) return constructorOf(at);
  }
  return undefined;
};
