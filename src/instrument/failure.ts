// What kind of error it was, as `error.type`: few values, and never the text of a message, which may hold what a user typed.

const MOST = 128;

/** Its code, else its class; `_OTHER` for what is no error. */
export const failureType = (error: unknown): string => {
  const { code, name } = (Object(error) ?? {}) as { code?: unknown; name?: unknown };
  const type = typeof code === 'string' && code !== '' ? code : name;
  return typeof type === 'string' && type !== '' ? type.slice(0, MOST) : '_OTHER';
};

/**
 * What failed by `error`: undefined where the program itself gave the call up, which is no failure. That its time was up is one, though it comes
 * as the cause of the same.
 */
export const failureOf = (error: unknown): unknown => {
  const { name, cause } = (Object(error) ?? {}) as { name?: unknown; cause?: unknown };
  if (name !== 'AbortError') return error;
  return (Object(cause) as { name?: unknown }).name === 'TimeoutError' ? cause : undefined;
};
