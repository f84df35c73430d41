// The types of kafka.mjs, for the tests.

export const HOW_TO_GET: string;
export function findKafka(): string | undefined;
