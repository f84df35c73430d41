// The types of build-jaeger.mjs, for the tests.

export function hasGo(): boolean;
export function ensureJaeger(): Promise<string | undefined>;
