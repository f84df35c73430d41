// A method of a class of others, replaced by one that calls it. The way back never takes away what somebody put there later: what a program has put
// around ours goes on calling it, and it must do nothing of its own then.
import { lookAlike } from '../base/calls/look-alike.js';
import { WeakList } from '../base/maps/weak-list.js';
import { Counter, count } from '../rows/counters.js';
import { allOff, type Off, quiet } from './channel.js';

export type Method = (this: unknown, ...args: unknown[]) => unknown;
export type Prototype = Record<string, Method>;

/** How it is listed, where it is or whence it is inherited. */
export const isListed = (prototype: object, name: string): boolean => {
  const owner = ownerOf(prototype as Prototype, name) ?? prototype;
  return Object.getOwnPropertyDescriptor(owner, name)?.enumerable === true;
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
  const isOwn = Object.hasOwn(prototype, name);
  let current = make(original);
  const wrapped = lookAlike(function (this: unknown, ...args: unknown[]): unknown {
    return Reflect.apply(current, this, args);
  }, original);
  const isPut = isOwn
    ? Reflect.set(prototype, name, wrapped)
    : Reflect.defineProperty(prototype, name, {
        value: wrapped,
        writable: true,
        configurable: true,
        enumerable: isListed(prototype, name),
      });
  if (!isPut) {
    count(Counter.instrumentationErrors);
    return () => {};
  }
  return () => {
    current = original;
    if (prototype[name] !== wrapped) return;
    // What was frozen meanwhile keeps ours, which does nothing.
    if (isOwn) Reflect.set(prototype, name, original);
    else Reflect.deleteProperty(prototype, name);
  };
};

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

/** Calls `seen` with what the function `name` of a module makes. */
export const seeMade = (module: object, name: string, seen: (made: object) => void): Off =>
  replaceMethod(
    module as Prototype,
    name,
    (make): Method =>
      function (this: unknown, ...args) {
        const made = Reflect.apply(make, this, args) as object;
        quiet(seen)(made);
        return made;
      },
  );
