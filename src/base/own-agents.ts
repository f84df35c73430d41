// What is our own of the HTTP that a process speaks: who traces or measures requests must leave it out, or spans would make spans without end, and a
// scrape would count itself.
const agents = new WeakSet<object>();

export const addOwnAgent = <A extends object>(agent: A): A => {
  agents.add(agent);
  return agent;
};

/** Whether `agent` is one of an exporter. */
export const isOwnAgent = (agent: unknown): boolean => typeof agent === 'object' && agent !== null && agents.has(agent);

/** On the server itself: every copy of this package must find it. */
const OWN_SERVER = Symbol.for('spanline.own-server');

export const addOwnServer = <S extends object>(server: S): S => Object.assign(server, { [OWN_SERVER]: true });

/** Whether `server` is one that answers scrapes. */
export const isOwnServer = (server: object): boolean => (server as { [OWN_SERVER]?: boolean })[OWN_SERVER] === true;
