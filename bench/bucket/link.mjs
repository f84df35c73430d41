// node link.mjs PORT RTT_MS MB_PER_SECOND: a link to a server of this machine, in a process of its own that ends with its parent: every byte comes half
// a round trip later, a connection is there after a whole one, and all answers together come no faster than the link.
import { connect, createServer } from 'node:net';

const [port, rtt, rate] = process.argv.slice(2).map(Number);
const BYTES_PER_MS = (rate * 1e6) / 1000;
/** When what was sent before has gone, of all connections. */
const free = { up: 0, down: 0 };

/** Hands on what comes, in order, when the link has brought it. */
const carry = (from, to, way) => {
  from.on('data', (chunk) => {
    const now = performance.now();
    free[way] = Math.max(now, free[way]) + chunk.length / BYTES_PER_MS;
    setTimeout(() => to.write(chunk), free[way] - now + rtt / 2);
  });
  from.on('end', () => setTimeout(() => to.end(), Math.max(0, free[way] - performance.now()) + rtt / 2 + 1));
  from.on('error', () => to.destroy());
};

const server = createServer({ noDelay: true }, (client) => {
  client.pause();
  const store = connect({ port, host: '127.0.0.1', noDelay: true });
  store.on('error', () => client.destroy());
  carry(client, store, 'up');
  carry(store, client, 'down');
  setTimeout(() => client.resume(), rtt);
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
