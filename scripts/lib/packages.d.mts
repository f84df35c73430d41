// The types of packages.mjs, for the tests.

export interface Package {
  /** Relative to the root; '' for the root. */
  readonly folder: string;
}

/** Those of the workspace, the core first. */
export const packages: readonly Package[];
