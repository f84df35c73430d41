// Names of V8's kinds of garbage collection, by their bit in v8::GCType, which Node's entries of performance have too.
const COLLECTION_KINDS: ReadonlyMap<number, string> = new Map([
  [1, 'scavenge'],
  // Of young objects, where an option makes V8 mark them.
  [2, 'scavenge'],
  [4, 'mark-compact'],
  [8, 'incremental'],
  [16, 'weak'],
]);

/** '' for one that is not known. */
export const collectionKind = (type: number): string => COLLECTION_KINDS.get(type) ?? '';
