// Promises of bluebird, which call back in the context of the settler: here in that of the caller, as promises of JavaScript do. bluebird does so
// itself where it is asked to, but for coroutines, and for thenables that a callback returns, as queries of knex are, which begin when `then` is called.
// Must make no span. What is changed is every context's, a program's own `AsyncLocalStorage` too.
import { AsyncResource } from 'node:async_hooks';
import { allOff, type Off, quiet } from './channel.js';
import { type ModuleOptions, onModule } from './on-module.js';
import { type Method, onReturn, type Prototype, replaceMethod } from './replace-method.js';

interface Bluebird {
  config(options: { readonly asyncHooks: boolean }): unknown;
  /** Another function where it keeps contexts. */
  readonly _getContext?: unknown;
  readonly prototype: Prototype;
}
type Steps = Record<'next' | 'throw' | 'return', Method>;

const thenOf = quiet((value: unknown): unknown => {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
  // Those of bluebird have begun, whichever copy made them.
  if (!isObject || value instanceof Promise || Object.hasOwn(value, '_promise0')) return undefined;
  return (value as { readonly then?: unknown }).then;
});

/** What a callback gives. bluebird calls `then` of it when the callback is over: here in the context that is current now. */
const keepThen = (value: unknown): unknown => {
  const then = thenOf(value);
  if (typeof then !== 'function') return value;
  const resource = new AsyncResource('spanline.thenable');
  // biome-ignore lint/suspicious/noThenProperty: it stands for one.
  return { then: (...args: unknown[]) => resource.runInAsyncScope(then as Method, value, ...args) };
};

const keepingThen = (callback: unknown): unknown =>
  typeof callback !== 'function'
    ? callback
    : function (this: unknown, ...args: unknown[]): unknown {
        return keepThen(Reflect.apply(callback, this, args));
      };

/** A generator whose steps run in the context in which it was made. */
const keepContext = quiet((generator: Steps): void => {
  const resource = new AsyncResource('spanline.coroutine');
  for (const name of ['next', 'throw', 'return'] as const) {
    const step = generator[name];
    const keeping = function (this: unknown, ...args: unknown[]): unknown {
      const result = Reflect.apply(step, this, args) as IteratorResult<unknown>;
      const value = keepThen(result.value);
      return value === result.value ? result : { done: result.done, value };
    };
    generator[name] = (...args) => resource.runInAsyncScope(keeping, generator, ...args);
  }
});

/** bluebird drives a coroutine from the promises that it waits for. */
const keepCoroutine = (coroutine: Method): Method =>
  function (this: unknown, generatorFunction, ...rest) {
    if (typeof generatorFunction !== 'function') return Reflect.apply(coroutine, this, [generatorFunction, ...rest]);
    const kept = function (this: unknown, ...args: unknown[]): unknown {
      const generator = Reflect.apply(generatorFunction as Method, this, args);
      if (typeof (generator as Partial<Steps>)?.next === 'function') keepContext(generator as Steps);
      return generator;
    };
    return Reflect.apply(coroutine, this, [kept, ...rest]);
  };

/** Callbacks of all that is built on `then`. Those that a promise puts on itself or another, such as for `reflect`, are known by their identity. */
const keepCallbacks = (bluebird: Bluebird): Off =>
  replaceMethod(
    bluebird.prototype,
    '_then',
    (then) =>
      function (this: unknown, fulfilled, rejected, ...rest) {
        const isOwn = Object.hasOwn(Object(rest[1]), '_promise0');
        const callbacks = isOwn ? [fulfilled, rejected] : [keepingThen(fulfilled), keepingThen(rejected)];
        return Reflect.apply(then, this, [...callbacks, ...rest]);
      },
  );

interface Context {
  readonly async: { runInAsyncScope(fn: Method, self: unknown, ...args: unknown[]): unknown } | null;
}

/** Callbacks of `map`, `reduce`, `join` and what is built on them, which are called in the context that this gives. */
const keepAsked = (bluebird: Bluebird): Off =>
  replaceMethod(
    bluebird as unknown as Prototype,
    '_getContext',
    (getContext) =>
      function (this: unknown) {
        const context = Reflect.apply(getContext, this, []) as Context | null;
        if (!context?.async) return context;
        const { async } = context;
        const runInAsyncScope = (fn: Method, self: unknown, ...args: unknown[]): unknown =>
          async.runInAsyncScope(keepingThen(fn) as Method, self, ...args);
        return { ...context, async: { runInAsyncScope } };
      },
  );

const keepContexts = (bluebird: Bluebird): Off => {
  const copies: Off[] = [];
  const { _getContext: before } = bluebird;
  bluebird.config({ asyncHooks: true });
  // The program may have asked for it before, or does so meanwhile.
  let isWanted = before !== undefined && before === bluebird._getContext;
  const note = (_: unknown, __: unknown, [options]: readonly object[]): void => {
    if ('asyncHooks' in options) isWanted = Boolean(options.asyncHooks);
  };
  return allOff([
    () => {
      if (!isWanted) bluebird.config({ asyncHooks: false });
    },
    onReturn(bluebird, 'config', note),
    replaceMethod(bluebird as unknown as Prototype, 'coroutine', keepCoroutine),
    keepCallbacks(bluebird),
    keepAsked(bluebird),
    // Libraries have one of their own, as bookshelf.
    onReturn(bluebird, 'getNewLibraryCopy', (copy: Bluebird) => void copies.push(keepContexts(copy))),
    () => allOff(copies.splice(0))(),
  ]);
};

/** bluebird 3.6 and later. */
export const instrumentBluebird = ({ module }: ModuleOptions): Off =>
  onModule<Bluebird>('bluebird', module, (bluebird) =>
    typeof bluebird.config === 'function' ? keepContexts(bluebird) : undefined,
  );
