// What is in the thread pool while it is full, for people: reported by the addon, which sees numbers only. Called from the event loop and in the middle
// of any code: must not throw, and must take a hundredth of the time at most, however many sockets and timers a process has.
import { executionAsyncResource } from 'node:async_hooks';
import { timers } from '../../base/calls/timers.js';
import type { RawFrames } from './frames.js';

/** Node's names of requests that are in the pool, and what a program calls that has them. */
const IN_POOL: ReadonlyMap<string, string> = new Map([
  ['FSReqCallback', 'fs'],
  ['FSReqPromise', 'fs'],
  ['CloseReq', 'fs'],
  ['GetAddrInfoReqWrap', 'dns.lookup'],
  ['GetNameInfoReqWrap', 'dns.lookupService'],
]);
/** Requests of sockets, which are not. */
const ELSEWHERE: ReadonlySet<string> = new Set(['ConnectWrap', 'SimpleWriteWrap', 'SimpleShutdownWrap', 'SendWrap']);

/** Node lists no requests of these: the callback of one that comes to an end shows that they have some. */
const UNLISTED = /^node:(?:internal\/)?(crypto\/\w+|zlib)$/;
/** Calls the callbacks where somebody uses async hooks, as AsyncLocalStorage does before Node 24. */
const TRAMPOLINE = 'node:internal/async_hooks';
const JOB = /Job$/;
const ZLIB: ReadonlySet<string> = new Set(['Zlib', 'BrotliEncoder', 'BrotliDecoder', 'ZstdCompress', 'ZstdDecompress']);
const FIELDS = 3;

/** Of the time since the last look. */
const LARGEST_SHARE = 0.01;

/** Requests in flight. */
interface Requests {
  readonly listed: readonly (readonly [name: string, count: number])[];
  /** Of crypto, zlib and addons. */
  readonly unlisted: number;
}

interface Detail extends Requests {
  /** Owners of requests that ended meanwhile. */
  readonly ended: Set<string>;
}

const NOTHING: Requests = { listed: [], unlisted: 0 };

export class PoolDetails {
  // By the number of the probe, the oldest first.
  readonly #details = new Map<number, Detail>();
  readonly #maxDetails: number;
  #last = NOTHING;
  #nextLookMs = 0;

  constructor(maxDetails: number) {
    this.#maxDetails = maxDetails;
  }

  /** Probe `number` has found the pool full while so many requests were in flight. */
  add(number: number, requests: number): void {
    const nowMs = timers.monotonicMs();
    if (nowMs >= this.#nextLookMs) {
      this.#last = requestsInFlight(requests);
      this.#nextLookMs = nowMs + (timers.monotonicMs() - nowMs) / LARGEST_SHARE;
    }
    this.#details.set(number, { ...this.#last, ended: new Set() });
    if (this.#details.size > this.#maxDetails) this.#details.delete(this.#details.keys().next().value as number);
  }

  /** The frames of what runs first in a turn since then. True when that is the callback of a request that Node does not list. */
  ran(number: number, frames: RawFrames): boolean {
    const script = String(frames[frames.length - FIELDS + 1]);
    const kind = script === TRAMPOLINE ? kindOfResource(executionAsyncResource()) : UNLISTED.exec(script)?.[1];
    if (kind !== undefined) this.#details.get(number)?.ended.add(kind);
    return kind !== undefined;
  }

  /** `fs 3, other 8 (crypto/pbkdf2)`; '' where nothing is known. */
  textOf(number: number): string {
    const { listed, unlisted, ended } = this.#details.get(number) ?? { ...NOTHING, ended: new Set() };
    const parts = listed.map(([name, count]) => `${name} ${count}`);
    if (unlisted > 0) parts.push(`other ${unlisted}${ended.size === 0 ? '' : ` (${[...ended].join(', ')})`}`);
    return parts.join(', ');
  }
}

/** The same of the object for which Node is about to call somebody. */
const kindOfResource = (resource: object): string | undefined => {
  const { name } = resource.constructor;
  if (ZLIB.has(name)) return 'zlib';
  return JOB.test(name) ? `crypto/${name.replace(JOB, '').toLowerCase()}` : undefined;
};

const requestsInFlight = (requests: number): Requests => {
  const counts = new Map<string, number>();
  let unlisted = requests;
  for (const name of process.getActiveResourcesInfo()) {
    const shown = IN_POOL.get(name);
    if (shown !== undefined) counts.set(shown, (counts.get(shown) ?? 0) + 1);
    if (shown !== undefined || ELSEWHERE.has(name)) unlisted--;
  }
  return { listed: [...counts].sort(([, a], [, b]) => b - a), unlisted: Math.max(0, unlisted) };
};
