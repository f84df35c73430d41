// node load.mjs PORT[,PORT...] SECONDS RATE [PATH]: HTTP/1.1 load on 127.0.0.1. RATE 0: 32 connections, each asks again as soon as it is answered; several
// ports take turns, one right after another. Else so many requests a second of each port, of all at the same time, whether or not earlier ones are
// answered. Prints a line of JSON: a result for each port, in a list. A latency counts from when a request is due, the wait for a free connection
// included: a service that stands still must not look quick because nobody asks it meanwhile. (autocannon sends the requests of a second in one burst, and
// its latencies are whole milliseconds.)
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../lib/stats.mjs';

const [, , ports, ...rest] = process.argv;
const [seconds, rate] = rest.map(Number);
const [, , path = '/api'] = rest;
const CONNECTIONS = rate > 0 ? 128 : 32;
/** What is unanswered so long after the end is counted as if it had been answered then. */
const PATIENCE_MS = 10_000;
/** Between two ports: what one puts off must not be in the other's way. */
const PAUSE_MS = 500;
/** Until this process runs optimised code; it is not counted. */
const WARM_S = 0.3;
const REQUEST = Buffer.from(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
const END_OF_HEAD = Buffer.from('\r\n\r\n');

/** A connection with one request in flight at most. */
class Connection {
  #expected = -1;
  #have = 0;

  constructor(port, onAnswer) {
    this.onAnswer = onAnswer;
    this.socket = connect(port, '127.0.0.1').setNoDelay(true);
    this.socket.on('data', (data) => this.#take(data));
  }

  ask() {
    this.socket.write(REQUEST);
  }

  #take(data) {
    if (this.#expected < 0) {
      const end = data.indexOf(END_OF_HEAD);
      const [, length] = /content-length: (\d+)/i.exec(data.latin1Slice(0, end)) ?? [];
      if (end < 0 || length === undefined) throw new Error(`no head of an answer: ${data.latin1Slice(0, 200)}`);
      this.#expected = end + END_OF_HEAD.length + Number(length);
    }
    this.#have += data.length;
    if (this.#have < this.#expected) return;
    this.#expected = -1;
    this.#have = 0;
    this.onAnswer(this);
  }
}

const open = async (port, onAnswer) => {
  const connections = Array.from({ length: CONNECTIONS }, () => new Connection(port, onAnswer));
  await Promise.all(connections.map(({ socket }) => once(socket, 'connect')));
  return connections;
};

async function saturate(port, seconds) {
  let answered = 0;
  let inFlight = 0;
  let over;
  const drained = new Promise((resolve) => {
    over = resolve;
  });
  const ask = (connection) => {
    inFlight++;
    connection.ask();
  };
  const connections = await open(port, (connection) => {
    answered++;
    inFlight--;
    if (performance.now() < end) ask(connection);
    else if (inFlight === 0) over();
  });
  const start = performance.now();
  const end = start + seconds * 1000;
  connections.forEach(ask);
  await drained;
  return { perSecond: (1000 * answered) / (performance.now() - start) };
}

async function atRate(port, seconds, rate) {
  const latencies = [];
  const free = [];
  const waiting = [];
  const dueOf = new Map();
  const ask = (connection, due) => {
    dueOf.set(connection, due);
    connection.ask();
  };
  const connections = await open(port, (connection) => {
    latencies.push(performance.now() - dueOf.get(connection));
    dueOf.delete(connection);
    if (waiting.length > 0) ask(connection, waiting.shift());
    else free.push(connection);
  });
  free.push(...connections);
  const wanted = Math.round(rate * seconds);
  const start = performance.now();
  let sent = 0;
  const tick = () => {
    const now = performance.now();
    for (const due = Math.min(wanted, ((now - start) * rate) / 1000); sent < due; sent++) {
      const connection = free.pop();
      if (connection === undefined) waiting.push(now);
      else ask(connection, now);
    }
    if (sent < wanted) setTimeout(tick, 1);
  };
  tick();
  const end = start + seconds * 1000 + PATIENCE_MS;
  while (latencies.length < wanted && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
  const answered = latencies.length;
  const now = performance.now();
  for (const due of [...dueOf.values(), ...waiting]) latencies.push(now - due);
  return {
    perSecond: (1000 * answered) / (now - start),
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
  };
}

async function byTurns(all) {
  const results = [];
  if (all.length > 1) await saturate(all[0], WARM_S);
  for (const port of all) {
    if (all.length > 1) await sleep(PAUSE_MS);
    results.push(await saturate(port, seconds));
  }
  return results;
}

const all = ports.split(',').map(Number);
console.log(
  JSON.stringify(await (rate > 0 ? Promise.all(all.map((port) => atRate(port, seconds, rate))) : byTurns(all))),
);
process.exit();
