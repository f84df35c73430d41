// The servers that the applications talk to, started when the first needs them. Each way has a database of its own in each.
import { findFerretdb, startFerretdb } from '../../scripts/lib/ferretdb.mjs';
import { hasMariadb, startMariadb } from '../../scripts/lib/mariadb.mjs';
import { hasPostgres, startPostgres } from '../../scripts/lib/postgres.mjs';
import { hasRedis, startRedis } from '../../scripts/lib/redis-server.mjs';

const STARTS = {
  postgres: () => hasPostgres && startPostgres({ listens: true }),
  mariadb: () => hasMariadb && startMariadb(),
  redis: async () => {
    if (!hasRedis()) return false;
    let database = 0;
    return { ...(await startRedis(['--databases', '64'])), nextDatabase: () => ++database };
  },
  mongodb: () => findFerretdb() !== undefined && startFerretdb(findFerretdb()),
};

export class Servers {
  #started = new Map();

  /** Those of these names, or undefined when the machine lacks one. */
  async of(names) {
    for (const name of names) if (!this.#started.has(name)) this.#started.set(name, await STARTS[name]());
    const all = names.map((name) => [name, this.#started.get(name)]);
    return all.every(([, server]) => server) ? Object.fromEntries(all) : undefined;
  }

  async stop() {
    for (const server of this.#started.values()) if (server) await server.stop();
  }
}
