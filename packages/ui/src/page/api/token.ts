// The token of a server that wants one: it comes behind # in the address that the command printed, and lives as long as the tab. It must never
// stay in the address, which people copy.
const KEY = 'spanline-token';

/** Take the token out of the address, if it is there. */
export const takeToken = (): void => {
  const match = /^#token=([\x21-\x7e]+)$/.exec(location.hash);
  if (match === null) return;
  sessionStorage.setItem(KEY, match[1]);
  history.replaceState(null, '', location.pathname);
};

/** The headers a request needs. */
export const authorization = (): Record<string, string> => {
  const token = sessionStorage.getItem(KEY);
  return token === null ? {} : { authorization: `Bearer ${token}` };
};

/** Keep a token that the user typed. */
export const setToken = (token: string): void => sessionStorage.setItem(KEY, token);
