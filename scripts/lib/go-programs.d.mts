// The types of go-programs.mjs, for the tests.

export function hasGo(): boolean;
