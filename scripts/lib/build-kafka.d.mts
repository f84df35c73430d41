// The types of build-kafka.mjs, for the tests.

export function ensureKafka(): Promise<string | undefined>;
