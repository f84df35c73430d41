// POSTs bodies while the process or a worker thread ends, when nothing asynchronous runs any more: a thread of its own sends them and the one that
// ends waits. It must never be used at another time, for it stops everything, nor wait longer than its timeout.
import type { AgentOptions } from 'node:https';
import { Worker } from 'node:worker_threads';

/** What a server's certificate is checked against, and the client's own. */
export type TlsOptions = Pick<AgentOptions, 'ca' | 'cert' | 'key' | 'passphrase' | 'rejectUnauthorized' | 'servername'>;

/** What is sent, where to, and for how long at most. */
export interface ExitDelivery {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsOptions | undefined;
  readonly bodies: readonly Uint8Array[];
  readonly timeoutMs: number;
}

// Places in the shared memory.
const IS_OVER = 0;
const TAKEN = 1;
const HAS_ANSWERED = 2;

// Text, not a file: a bundle has not the package's files beside it.
const SENDER = `'use strict';
const { workerData } = require('node:worker_threads');
const { url, headers, tls, bodies, state } = workerData;
const { request } = require(url.startsWith('https:') ? 'node:https' : 'node:http');
const end = () => { Atomics.store(state, ${IS_OVER}, 1); Atomics.notify(state, ${IS_OVER}); };
const send = (i) => {
  if (i === bodies.length) return end();
  const options = { ...tls, method: 'POST', headers: { ...headers, 'content-length': bodies[i].byteLength } };
  request(url, options, (answer) => {
    Atomics.store(state, ${HAS_ANSWERED}, 1);
    const isTaken = answer.statusCode >= 200 && answer.statusCode < 300;
    answer.on('error', end).on('end', () => {
      if (!isTaken) return end();
      Atomics.add(state, ${TAKEN}, 1);
      send(i + 1);
    }).resume();
  }).on('error', end).end(bodies[i]);
};
send(0);
`;

/** What became of it. */
export interface ExitOutcome {
  /** Bodies that the server has taken, the first ones. */
  readonly taken: number;
  /** Somebody has answered, with whatever status. */
  readonly hasAnswered: boolean;
}

export const sendAtExit = ({ url, headers, tls, bodies, timeoutMs }: ExitDelivery): ExitOutcome => {
  if (bodies.length === 0) return { taken: 0, hasAnswered: true };
  const state = new Int32Array(new SharedArrayBuffer(12));
  // Copies of what may be parts of larger buffers.
  const copies = bodies.map((body) => new Uint8Array(body));
  const worker = new Worker(SENDER, {
    eval: true,
    // Nothing that is loaded into the program belongs in there.
    execArgv: [],
    env: {},
    workerData: { url, headers, tls, bodies: copies, state },
    transferList: copies.map(({ buffer }) => buffer),
  });
  worker.on('error', () => {});
  Atomics.wait(state, IS_OVER, 0, timeoutMs);
  return { taken: Atomics.load(state, TAKEN), hasAnswered: Atomics.load(state, HAS_ANSWERED) === 1 };
};
