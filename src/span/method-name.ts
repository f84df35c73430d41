// The name of a traced method: the class that declares it, not that of the object it is called on, and the method's own.
// Looked up at the first call, because a decorator runs before its class exists. What a proxy throws meanwhile is not felt.
import type { TracedOptions } from './traced-options.js';
import type { SpanName } from './wrap-function.js';

/** What a decorator has of the class: the object it was given (legacy), or the class's metadata (standard, if any). */
export interface DeclaredBy {
  readonly target?: object;
  readonly metadata?: unknown;
}

// Wrappers of methods: a class that owns another one under the key is another class.
const wrappers = new WeakSet<object>();

/** The name for the wrapper that `wrapped` gives once it is made. */
export const methodName = (
  key: string | symbol,
  options: TracedOptions,
  by: DeclaredBy,
  wrapped: () => object,
): SpanName => {
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
