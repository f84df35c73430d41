// Kinds and status codes as numbers, as files have them.

/** The place of a kind is its number in files. */
export const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
export const STATUS_CODES = ['unset', 'ok', 'error'] as const;
