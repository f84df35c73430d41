// The types of build-ferretdb.mjs, for the tests.

export function ensureFerretdb(): Promise<string | undefined>;
