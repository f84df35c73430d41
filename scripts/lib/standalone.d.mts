// Types of standalone.mjs, for tests.
export function wantedSymbols(file: string): {
  readonly symbols: readonly { readonly bind: string; readonly name: string }[];
  readonly output: string;
};
export function faultsOfAddon(file: string): readonly string[];
