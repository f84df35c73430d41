// Names and addresses of this machine alone, for servers that ask for no token. A page elsewhere can make a name of its own point here: what comes by
// such a name must not be taken for a request of this machine.

/** In version 6 as people write it, and as `URL` does. */
const LOOPBACK = /^(?:(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::ffff:7f[\da-f]{2}:[\da-f]{1,4})$/;

/** An address that only this machine reaches. */
export const isLoopback = (host: string): boolean => {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  return name === 'localhost' || name === '::1' || LOOPBACK.test(name);
};

/** The name in a Host header; names and addresses in their usual form, without the dot of the root. */
export const hostName = (header: string): string =>
  URL.canParse(`http://${header}`) ? new URL(`http://${header}`).hostname.replace(/\.$/, '') : header;

/** Whether a name can mean no other machine, whoever answers for it. */
export const isLocalName = (name: string): boolean => isLoopback(name) || name.endsWith('.localhost');
