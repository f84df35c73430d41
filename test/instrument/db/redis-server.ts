// The redis that tests talk to, or a line that says why they are skipped.
import { hasRedis as isInstalled } from '../../../scripts/lib/redis-server.mjs';

export { type RedisServer, startRedis } from '../../../scripts/lib/redis-server.mjs';

/** Whether there is one here. */
export const hasRedis = isInstalled();
if (!hasRedis) console.info('skipped: no redis-server here (Debian package redis-server)');
