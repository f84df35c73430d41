// Where an archive is. Needs nothing: every command loads it.

/** Whether a place is in an object store. */
export const isBucket = (place: string): boolean => place.startsWith('s3://');
