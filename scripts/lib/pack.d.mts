// The types of pack.mjs, for the tests.

import type { Package } from './packages.mjs';

export interface Tarball {
  readonly files: readonly { readonly path: string; readonly size: number }[];
  readonly size: number;
  readonly unpackedSize: number;
  readonly path: string;
}

/** The core's, when no package is named. */
export function pack(one?: Package): Tarball;
