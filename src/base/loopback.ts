// Names and addresses of this machine alone, for servers that ask for no token. A page elsewhere can make a name of its own point here: what comes by
// such a name must not be taken for a request of this machine.

/** An address that only this machine reaches. */
export const isLoopback = (host: string): boolean => {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  return name === 'localhost' || name === '::1' || /^(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name);
};

/** The name in a Host header; names and addresses in their usual form. */
export const hostName = (header: string): string =>
  URL.canParse(`http://${header}`) ? new URL(`http://${header}`).hostname : header;

/** Whether a name can mean no other machine, whoever answers for it. */
export const isLocalName = (name: string): boolean => isLoopback(name) || name.endsWith('.localhost');
