// What kind of error it was, as `error.type`: few values, and never the text of a message, which may hold what a user typed. A program may throw anything,
// also what throws when it is looked at.

/** A program may give a call up with an error of its own, whose code is any text, and metrics keep each that they have seen. */
const MAX = 128;

/** What an error has under `key`; undefined where that cannot be read. */
export const fieldOf = (error: unknown, key: string): unknown => {
  try {
    return (Object(error) as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
};

/** Its name. Classes that give their errors none have one themselves. */
const nameOf = (error: unknown): unknown => {
  const name = fieldOf(error, 'name');
  return name === 'Error' ? fieldOf(fieldOf(error, 'constructor'), 'name') || name : name;
};

/** Its code, else its class; `_OTHER` for what is not an error. */
export const failureType = (error: unknown): string => {
  const code = fieldOf(error, 'code');
  const type = typeof code === 'string' && code !== '' ? code : nameOf(error);
  return typeof type === 'string' && type !== '' ? type.slice(0, MAX) : '_OTHER';
};

/**
 * What failed by `error`: undefined where there is none, or the program itself gave the call up, which is not a failure. That its time was up is one, though
 * it comes as the cause of the same.
 */
export const failureOf = (error: unknown): unknown => {
  // Nearly every call: what is not there is not looked at.
  if (error === undefined || error === null) return undefined;
  if (nameOf(error) !== 'AbortError') return error;
  const cause = fieldOf(error, 'cause');
  return fieldOf(cause, 'name') === 'TimeoutError' ? cause : undefined;
};

/** What somebody rejected or threw without a word. */
const NO_REASON = 'no reason';

/** What a call failed by: where undefined means that it did not, this never is. */
export const reasonOf = (error: unknown): unknown => error ?? NO_REASON;
