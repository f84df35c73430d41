// The types of collector.mjs, for the tests.

export const HOW_TO_GET: string;
export function findCollector(): string | undefined;
