// What kind of error it was, as `error.type`: few values, and never the text of a message, which may hold what a user typed.

const MOST = 128;

/** Its code, else its class; `_OTHER` for what is no error. */
export const failureType = (error: unknown): string => {
  const { code, name } = (Object(error) ?? {}) as { code?: unknown; name?: unknown };
  const type = typeof code === 'string' && code !== '' ? code : name;
  return typeof type === 'string' && type !== '' ? type.slice(0, MOST) : '_OTHER';
};
