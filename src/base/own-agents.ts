// What is our own of the HTTP that a process speaks: who traces or measures requests must leave it out, or spans would make spans without end, and a
// scrape would count itself.

/** On agents and servers themselves: every copy of this package must find them. */
const OWN_AGENT = Symbol.for('spanline.own-agent');
const OWN_SERVER = Symbol.for('spanline.own-server');

export const addOwnAgent = <A extends object>(agent: A): A => Object.assign(agent, { [OWN_AGENT]: true });

/** Whether `agent` is one of an exporter. */
export const isOwnAgent = (agent: unknown): boolean =>
  (agent as { [OWN_AGENT]?: boolean } | null | undefined)?.[OWN_AGENT] === true;

export const addOwnServer = <S extends object>(server: S): S => Object.assign(server, { [OWN_SERVER]: true });

/** Whether `server` is one that answers scrapes. */
export const isOwnServer = (server: object): boolean => (server as { [OWN_SERVER]?: boolean })[OWN_SERVER] === true;
