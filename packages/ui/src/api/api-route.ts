// Endpoints of the page: below /ui/api, answered with JSON. What changes something must come from the page itself: a page elsewhere in the same
// browser could send such a request too. A parameter that is not a whole number must be refused, never taken for the default.
import type { IncomingMessage } from 'node:http';
import type { Archive } from '@spanline/archive';
import {
  BodyBudget,
  type Call,
  HttpError,
  queryRoute,
  type Route,
  sendBytes,
  withBody,
} from '@spanline/archive/internal';
import { GraphError } from '@spanline/graph';
import type { GoldStore, PerfStore } from '@spanline/tracedb';
import { orThrow, SpanlineError } from 'spanline/internal/base';
import type { SnapshotStore } from '../snapshots/snapshot-store.js';

/** What a server of the page reads; it opens and closes none of it. What is missing is so to its view, which says how to get it. */
export interface UiSources {
  readonly archive?: Archive;
  /** Addresses at which services answer Prometheus. */
  readonly metrics?: readonly string[];
  readonly perf?: PerfStore;
  /** A history file of `spanline bench run`, or a directory of them. */
  readonly history?: string;
  readonly gold?: GoldStore;
  /** Directory of profiles: `.pb.gz` as `spanline profile` writes them. */
  readonly profiles?: string;
  /** Snapshots, and where the page may have them taken. */
  readonly snapshots?: SnapshotStore;
}

/** The archive that the parameters of a request name, open as long as it is answered. `HttpError` 404 where there is none. */
export type ArchiveOf = (call: Call) => Promise<Archive>;

/** The parameter `name`, from `min` to `max`; `otherwise` where it is missing. `HttpError` 400 for anything else. */
export const numberOf = ({ query }: Call, name: string, min: number, max: number, otherwise?: number): number => {
  const text = query.get(name);
  if (text === null && otherwise !== undefined) return otherwise;
  const number = /^\d{1,16}$/.test(text ?? '') ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new HttpError(400, `${name} must be a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`);
};

const MAX_BODY_BYTES = 1024 * 1024;
const budget = new BodyBudget(4 * MAX_BODY_BYTES);

/** `bigint` as a decimal text, which the page reads with `BigInt`. */
const withoutBigInts = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

const toJson = (value: unknown): string => {
  try {
    // Five times as fast as with a replacer, which is called for every number of a column.
    return JSON.stringify(value);
  } catch {
    return JSON.stringify(value, withoutBigInts);
  }
};

/** What a failure of a store is to the page: its words, which name the remedy. */
const toAnswer = (error: unknown): unknown => {
  if (!(error instanceof SpanlineError) || error instanceof HttpError || error instanceof GraphError) return error;
  return new HttpError(error.code === 'ERR_SPANLINE_NOT_FOUND' ? 404 : 400, error.message);
};

const answerWith = async (call: Call, answer: () => unknown): Promise<void> => {
  try {
    const value = await answer();
    sendBytes(call.response, 200, 'application/json', toJson(value));
  } catch (error) {
    throw toAnswer(error);
  }
};

/** GET below /ui/api: `answer` gives what is sent as JSON. */
export const apiGet = (path: string, answer: (call: Call) => unknown): Route =>
  queryRoute(`/ui/api/${path}`, (call) => answerWith(call, () => answer(call)));

/** Throws unless a page of this very server sent the request, or a program that is not a browser. */
const checkOrigin = ({ headers }: IncomingMessage): void => {
  const { origin, host } = headers;
  const isOwn = origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
  const site = headers['sec-fetch-site'];
  if (isOwn && (site === undefined || site === 'same-origin' || site === 'none')) return;
  throw new HttpError(403, 'only the page of this server may change anything');
};

const parseBody = (bytes: Buffer): unknown =>
  orThrow(
    () => JSON.parse(bytes.toString('utf8')),
    () => new HttpError(400, 'the body must be JSON'),
  );

/** POST below /ui/api with a body of JSON, from the page itself only. */
export const apiPost = (path: string, answer: (body: unknown, call: Call) => unknown): Route => ({
  ...queryRoute(`/ui/api/${path}`, async (call) => {
    checkOrigin(call.request);
    // A form of another page cannot send this type without being asked first.
    if (!/^application\/json\b/i.test(call.request.headers['content-type'] ?? ''))
      throw new HttpError(415, 'the content type must be application/json');
    const body = await withBody(call.request, MAX_BODY_BYTES, budget, parseBody);
    await answerWith(call, () => answer(body, call));
  }),
  method: 'POST',
});
