// A copy of an object of a program with other values for some of its properties, for a library to read in its place. The object itself stays as it is,
// and what its class keeps private is read of it: a getter that runs on a copy finds nothing there, or throws.

const throughAccessor = (given: object, { get, set, enumerable = false }: PropertyDescriptor): PropertyDescriptor => ({
  configurable: true,
  enumerable,
  get: get === undefined ? undefined : () => Reflect.apply(get, given, []) as unknown,
  set: set === undefined ? undefined : (value: unknown) => void Reflect.apply(set, given, [value]),
});

const isAccessor = ({ get, set }: PropertyDescriptor): boolean => get !== undefined || set !== undefined;

/** Adds what classes have accessors for, but for the root of all, which is another one in each realm. */
const addInherited = (given: object, descriptors: Record<PropertyKey, PropertyDescriptor>): void => {
  let owner = Object.getPrototypeOf(given) as object | null;
  for (; owner !== null; owner = Object.getPrototypeOf(owner) as object | null) {
    if (Object.getPrototypeOf(owner) === null) return;
    for (const key of Reflect.ownKeys(owner)) {
      const descriptor = Reflect.getOwnPropertyDescriptor(owner, key);
      if (descriptor === undefined || !isAccessor(descriptor) || Object.hasOwn(descriptors, key)) continue;
      descriptors[key] = throughAccessor(given, descriptor);
    }
  }
};

/** A copy of an object without a class whose properties are values that anybody may change, as most are: a quarter of what descriptors take. */
const plainCopy = (given: object): Record<PropertyKey, unknown> | undefined => {
  if (Object.getPrototypeOf(given) !== Object.prototype) return undefined;
  const copy: Record<PropertyKey, unknown> = {};
  for (const key of Reflect.ownKeys(given)) {
    const { value, writable, enumerable } = Reflect.getOwnPropertyDescriptor(given, key) ?? {};
    if (writable !== true || enumerable !== true || key === '__proto__') return undefined;
    copy[key] = value;
  }
  return copy;
};

/** `given` with these `values`, whatever it is made of. Throws what a proxy's traps throw. */
export const copyWith = <T extends object>(given: T, values: Readonly<Record<string, unknown>>): T => {
  const plain = plainCopy(given);
  if (plain !== undefined) return Object.assign(plain, values) as T;
  const descriptors = Object.getOwnPropertyDescriptors(given) as Record<PropertyKey, PropertyDescriptor>;
  for (const key of Reflect.ownKeys(descriptors)) {
    if (isAccessor(descriptors[key])) descriptors[key] = throughAccessor(given, descriptors[key]);
  }
  addInherited(given, descriptors);
  for (const [key, value] of Object.entries(values))
    descriptors[key] = { value, writable: true, enumerable: true, configurable: true };
  return Object.create(Object.getPrototypeOf(given) as object | null, descriptors) as T;
};
