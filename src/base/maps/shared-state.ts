// State that all copies of a package in a thread share, whatever their version and build: found by its name on the global object. Must never be taken
// as it is found: another version may have made it with fewer fields.

/**
 * The state of this name, with every field that `create` gives; what is there already stays, and so do fields that are not known here. `create` gets
 * what was found, for fields that lead to one another.
 */
export const sharedState = <T extends object>(name: string, create: (found: Partial<T>) => T): T => {
  const holder = globalThis as { [key: symbol]: Partial<T> | undefined };
  const key = Symbol.for(name);
  const found = holder[key];
  const made = create(found ?? {});
  // As it was made, in one piece: fields of an object that grows are further away from code that reads them.
  if (found === undefined) {
    holder[key] = made;
    return made;
  }
  for (const [field, value] of Object.entries(made)) if (!(field in found)) Object.assign(found, { [field]: value });
  return found as T;
};
