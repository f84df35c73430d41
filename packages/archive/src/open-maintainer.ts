// The way to what maintains a bucket: loads what asks object stores when it is needed, and not before.
import type { MaintainOptions } from './bucket/bucket-options.js';
import type { ObjectStoreOptions } from './bucket/object-store.js';
import type { OpenMaintainer } from './bucket/open-maintainer.js';

export type { OpenMaintainer };

/** Maintain the archive at `s3://bucket/prefix`. Nothing is asked before the first pass. */
export const openMaintainer = async (
  location: string,
  options: MaintainOptions = {},
  s3?: ObjectStoreOptions,
): Promise<OpenMaintainer> => (await import('./bucket/open-maintainer.js')).openMaintainerOf(location, options, s3);
