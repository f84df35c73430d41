// The types of ferretdb.mjs, for the tests.

export const HOW_TO_GET: string;
export function findFerretdb(): string | undefined;
