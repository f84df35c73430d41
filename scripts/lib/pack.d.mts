// The types of pack.mjs, for the tests.

export interface Tarball {
  readonly files: readonly { readonly path: string; readonly size: number }[];
  readonly size: number;
  readonly unpackedSize: number;
  readonly path: string;
}

export function pack(): Tarball;
