// The addons of ours, and where each lies in its package. Of them binaries are built that are published with it.

/** Name -> folder, from the root. */
export const ADDONS = { tsc: 'native/tsc', sigprof: 'packages/profile/native/sigprof' };

/** Name -> folder of the package whose `prebuilds` has the binaries; '' for the root. */
export const PACKAGE_OF = { tsc: '', sigprof: 'packages/profile' };

/** Of which addon a binary is: `tsc-fast-115.node` is of `tsc`. */
export const addonOf = (file) => Object.keys(ADDONS).find((name) => file.startsWith(name));
