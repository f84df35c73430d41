// What a map has for a key, made where it has nothing yet. Newer Node has it as Map.prototype.getOrInsertComputed.

/** The value of `key`; the first time `make` makes it. No value may be undefined. */
export const getOrMake = <K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: (key: K) => V,
): V => {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make(key);
  map.set(key, made);
  return made;
};
