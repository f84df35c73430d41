// A method of a class of others, replaced by one that calls it. The way back never takes away what somebody put there later: what a program has put
// around ours goes on calling it, and it must do nothing of its own then.
import { type AnyFunction, lookAlike } from '../base/calls/look-alike.js';
import { WeakList } from '../base/maps/weak-list.js';
import { Counter, count } from '../rows/counters.js';
import { allOff, type Off } from './channel.js';

export type Method = (this: unknown, ...args: unknown[]) => unknown;
export type Prototype = Record<string, Method>;
/** Classes of a library by the names that it exports them by; a version may have none of that name. */
export type Classes<N extends string> = { readonly [K in N]?: { readonly prototype: Prototype } };

/** How it is listed, where it is or whence it is inherited. */
const isListed = (prototype: object, name: PropertyKey): boolean => {
  const owner = ownerOf(prototype as Prototype, name) ?? prototype;
  return Object.getOwnPropertyDescriptor(owner, name)?.enumerable === true;
};

/**
 * Puts `method` itself in place of the method `name`; nothing where none can be put. No frame and no list of arguments is added to a call, but `method` has
 * to do nothing of its own once it is taken back.
 */
export const putMethod = (prototype: object, name: PropertyKey, method: AnyFunction): Off => {
  const methods = prototype as Record<PropertyKey, AnyFunction>;
  const original = methods[name];
  const value = lookAlike(method, original);
  const isOwn = Object.hasOwn(methods, name);
  const isPut = isOwn
    ? Reflect.set(methods, name, value)
    : Reflect.defineProperty(methods, name, {
        value,
        writable: true,
        configurable: true,
        enumerable: isListed(methods, name),
      });
  if (!isPut) {
    count(Counter.instrumentationErrors);
    return () => {};
  }
  return () => {
    if (methods[name] !== value) return;
    // What was frozen meanwhile keeps ours.
    if (isOwn) Reflect.set(methods, name, original);
    else Reflect.deleteProperty(methods, name);
  };
};

/**
 * Puts what `make` gives in place of the method `name`; nothing where there is none, or none can be put. Once it is taken back, its keepers call the
 * original one.
 */
export const replaceMethod = (
  prototype: Prototype | undefined,
  name: string,
  make: (original: Method) => Method,
): Off => {
  const original = prototype?.[name];
  if (prototype === undefined || typeof original !== 'function') return () => {};
  let current = make(original);
  const putBack = putMethod(prototype, name, function (this: unknown, ...args: unknown[]): unknown {
    return Reflect.apply(current, this, args);
  });
  return () => {
    current = original;
    putBack();
  };
};

/** Calls `seen` with each receiver and the arguments of the method `name`, before that. What it throws is counted. */
export const onCall = <S, A extends readonly unknown[]>(
  prototype: object | undefined,
  name: string,
  seen: (receiver: S, args: A) => void,
): Off =>
  replaceMethod(
    prototype as Prototype | undefined,
    name,
    (method) =>
      function (this: unknown, ...args) {
        try {
          seen(this as S, args as unknown as A);
        } catch {
          count(Counter.instrumentationErrors);
        }
        return Reflect.apply(method, this, args);
      },
  );

/** The same when it has returned, with what it gave. */
export const onReturn = <G, S, A extends readonly unknown[]>(
  prototype: object | undefined,
  name: string,
  seen: (given: G, receiver: S, args: A) => void,
): Off =>
  replaceMethod(
    prototype as Prototype | undefined,
    name,
    (method) =>
      function (this: unknown, ...args) {
        const given = Reflect.apply(method, this, args);
        try {
          seen(given as G, this as S, args as unknown as A);
        } catch {
          count(Counter.instrumentationErrors);
        }
        return given;
      },
  );

export const prototypeOf = (object: object | undefined): Prototype | undefined =>
  object === undefined ? undefined : (Object.getPrototypeOf(object) as Prototype);

/** Where `prototype`, or what it inherits from, has the method `name` itself: subclasses share it. */
export const ownerOf = (prototype: Prototype | undefined, name: PropertyKey): Prototype | undefined => {
  let owner = prototype;
  while (owner !== undefined && owner !== null && !Object.hasOwn(owner, name)) owner = prototypeOf(owner);
  return owner ?? undefined;
};

/** Patches classes that are seen by their objects alone, once each. */
export class SeenClasses {
  readonly #seen = new WeakSet<object>();
  readonly #offs: Off[] = [];
  #isOff = false;

  patch(prototype: Prototype | undefined, patch: (prototype: Prototype) => Off): void {
    // An object may come that was asked for before.
    if (this.#isOff || prototype === undefined || this.#seen.has(prototype)) return;
    this.#seen.add(prototype);
    this.#offs.push(patch(prototype));
  }

  replace(prototype: Prototype | undefined, name: string, make: (method: Method) => Method): void {
    this.patch(prototype, (seen) => replaceMethod(seen, name, make));
  }

  readonly off: Off = () => {
    this.#isOff = true;
    allOff(this.#offs.splice(0))();
  };
}

/**
 * The same for an instrumentation that is switched over to other options, or off and on again: a program may make what it has of such classes once for all,
 * so they are patched anew then. As many as the copies of a library have.
 */
export class KnownClasses {
  readonly #known = new WeakList<Prototype>();
  readonly #remembered = new WeakSet<object>();

  /** Patches those that are known, and until it is off those that it is shown by `see`. */
  patch(patch: (prototype: Prototype) => Off): { see(prototype: Prototype | undefined): void; off: Off } {
    const classes = new SeenClasses();
    for (const prototype of this.#known.first()) classes.patch(prototype, patch);
    const see = (prototype: Prototype | undefined): void => {
      if (prototype !== undefined) this.#remember(prototype);
      classes.patch(prototype, patch);
    };
    return { see, off: classes.off };
  }

  #remember(prototype: Prototype): void {
    if (this.#remembered.has(prototype)) return;
    this.#remembered.add(prototype);
    this.#known.add(prototype);
  }
}
