// The address of a file on a web server. Credentials and signatures in it must reach the server and nobody else: no message may show
// them.
import { BadOptionsError } from '../../graph-error.js';
import type { RequestHeaders } from './http-getter.js';

/** A percent sign that encodes nothing stands for itself. */
const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** An address as `fetch` takes it, and as it may be shown. */
export const parseAddress = (
  text: string,
): { readonly url: string; readonly name: string; readonly headers: RequestHeaders } => {
  if (!URL.canParse(text)) throw new BadOptionsError(`${text.replace(/\/\/.*@/s, '//')} is no address`);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new BadOptionsError(`${url.protocol}// cannot be read, only http and https can`);
  }
  const { username, password } = url;
  url.username = '';
  url.password = '';
  url.hash = '';
  const shown = new URL(url);
  // Signed addresses carry their permission here.
  if (shown.search !== '') shown.search = '...';
  if (username === '' && password === '') return { url: url.href, name: shown.href, headers: {} };
  const user = Buffer.from(`${decode(username)}:${decode(password)}`).toString('base64');
  return { url: url.href, name: shown.href, headers: { authorization: `Basic ${user}` } };
};
