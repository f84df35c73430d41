// Who may ask. With a token: who has it. Without: programs of this machine, which is why the server then listens to no other, and why a web
// page must not reach it by a name of its own that points here.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { hostName, isLocalName } from 'spanline/internal/base';
import { HttpError } from './http-error.js';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** A name or an address, with or without a port, and nothing that different readers take for different things. */
const HOST = /^(?:\[[\da-f:.]{2,45}\]|[a-z\d_](?:[-a-z\d._]{0,252}[a-z\d._])?)(?::\d{1,5})?$/i;

/** One host and a valid one: a proxy may have looked at another than we do. */
const checkForm = ({ rawHeaders, headers }: IncomingMessage): void => {
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length;
  if (hosts > 1) throw new HttpError(400, 'there is more than one Host header');
  if (headers.host !== undefined && headers.host !== '' && !HOST.test(headers.host))
    throw new HttpError(400, 'the Host header is not valid');
};

/** Checks of one server. */
export class Guard {
  readonly #allowedHosts: readonly string[];
  readonly #corsOrigins: readonly string[];
  readonly #wanted: Buffer | undefined;

  constructor(token: string | undefined, allowedHosts: readonly string[], corsOrigins: readonly string[]) {
    this.#allowedHosts = allowedHosts;
    this.#corsOrigins = corsOrigins;
    this.#wanted = token === undefined ? undefined : digest(token);
  }

  /** Throws when the request may not be answered. */
  check(request: IncomingMessage): void {
    const { headers } = request;
    checkForm(request);
    if (this.#wanted === undefined) {
      this.#checkHost(headers.host);
      return;
    }
    const [, given] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
    // Digests have one length, so that the comparison tells nothing by its time.
    if (given !== undefined && timingSafeEqual(digest(given), this.#wanted)) return;
    throw new HttpError(401, 'this server wants a token: send the header "Authorization: Bearer ..."', {
      'www-authenticate': 'Bearer realm="spanline"',
    });
  }

  /** Let pages of the allowed origins read the answer. True when the origin is one of them. */
  allowOrigin({ headers }: IncomingMessage, response: ServerResponse): boolean {
    if (this.#corsOrigins.length === 0) return false;
    response.setHeader('vary', 'origin');
    const { origin } = headers;
    if (origin === undefined || !this.#corsOrigins.includes(origin)) return false;
    response.setHeader('access-control-allow-origin', origin);
    return true;
  }

  /** The name a request came by: a page elsewhere could have made its own name point to this machine. */
  #checkHost(host: string | undefined): void {
    if (host === undefined) return;
    const name = hostName(host);
    if (isLocalName(name) || this.#allowedHosts.includes(name)) return;
    throw new HttpError(403, `requests for the host ${name} are not allowed: name it in allowedHosts, or set a token`);
  }
}
