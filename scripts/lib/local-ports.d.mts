// The types of local-ports.mjs, for the tests.

export function freePort(): Promise<number>;
export function isListening(port: number, address?: string): Promise<boolean>;
