// The agents of our own exporters: who traces outgoing requests must leave theirs out, or spans would make spans without end.
const agents = new WeakSet<object>();

export const addOwnAgent = <A extends object>(agent: A): A => {
  agents.add(agent);
  return agent;
};

/** Whether `agent` is one of an exporter. */
export const isOwnAgent = (agent: unknown): boolean => typeof agent === 'object' && agent !== null && agents.has(agent);
