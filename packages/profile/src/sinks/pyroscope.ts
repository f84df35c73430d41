// A sink that pushes profiles to Pyroscope, or whatever takes its /ingest. Tries a bounded number of times within a bounded time, then
// gives the profile up and counts it: memory must never grow because a server is away.

import {
  finiteNumber,
  orThrow,
  backoffMs as pauseMs,
  quoteWords,
  sleep,
  timers,
  wholeNumber,
} from 'spanline/internal/base';
import type { LabelledProfile } from '../labelled-profile.js';
import { encodePprof, type PprofOptions } from '../output/pprof.js';
import { selectLabels } from '../output/select-labels.js';
import { ProfileOutputError, wrongOutputOption } from '../profile-error.js';
import { type CountingSink, countingSink } from './profile-sink.js';

export interface PyroscopeSinkOptions extends PprofOptions {
  /** Address of the server, such as `http://localhost:4040`; `/ingest` is appended to it. */
  readonly endpoint: string;
  /** Name of the application. */
  readonly name: string;
  /** Tags of the whole profile, such as `{ region: 'eu' }`. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Sent with every request: credentials, `X-Scope-OrgID`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Which label keys are sent. Default: all but `trace_id`, for the server keeps a series for every value it sees. */
  readonly keepKey?: (key: string) => boolean;
  /** Times a profile is sent at most. Default 3. */
  readonly attempts?: number;
  /** Milliseconds for one request. Default 10,000. */
  readonly timeoutMs?: number;
  /** Milliseconds before the second try; doubled before each further one. Default 1000. */
  readonly backoffMs?: number;
}

export interface PyroscopeSinkStats {
  readonly profiles: number;
  readonly bytes: number;
  /** Requests beyond the first of a profile. */
  readonly retries: number;
  /** Profiles given up. */
  readonly failures: number;
  /** Status of the last answer; 0 when there was none. */
  readonly lastStatus: number;
}

const DEFAULT_ATTEMPTS = 3;
const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_BACKOFF_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
const MS_PER_SECOND = 1000;
const NS_PER_SECOND = 1e9;
const QUOTED = 200;
/** Of an answer that is read; the rest is nobody's. */
const MAX_ANSWER_BYTES = 16_384;
const LONGEST_TIMEOUT_MS = 3_600_000;

const RETRYABLE: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

// How the server is to read the two sample types.
const SAMPLE_TYPES = JSON.stringify({
  samples: { units: 'samples', aggregation: 'sum', 'display-name': 'samples', sampled: true },
  cpu: { units: 'nanoseconds', aggregation: 'sum', 'display-name': 'cpu', sampled: false },
});

/** What a name or tag may not hold: it would be read as the next one. */
const UNSAFE_IN_NAME = /[{}=,"\s\p{Cc}]/gu;

const fullName = (name: string, tags: Readonly<Record<string, string>>): string => {
  const safe = (text: string): string => text.replace(UNSAFE_IN_NAME, '_');
  const pairs = Object.entries(tags).map(([key, value]) => `${safe(key)}=${safe(value)}`);
  return pairs.length === 0 ? safe(name) : `${safe(name)}{${pairs.join(',')}}`;
};

const failure = (message: string, cause?: unknown): ProfileOutputError =>
  new ProfileOutputError('ERR_SPANLINE_PROFILE_PUSH', message, { cause });

/** How a try ended: taken, or refused with a reason and whether to try again, and when. */
type Attempt =
  | { readonly isTaken: true }
  | {
      readonly isTaken: false;
      readonly error: ProfileOutputError;
      readonly mayRetry: boolean;
      readonly waitMs?: number;
    };

const retryAfterMs = (header: string | null): number | undefined => {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * MS_PER_SECOND : Date.parse(header) - timers.wallMs();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), LONGEST_WAIT_MS);
};

const addressOf = (endpoint: string): URL => {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw wrongOutputOption(`endpoint is ${endpoint}; give an address such as http://localhost:4040`);
  }
  if (!/\/ingest\/?$/.test(url.pathname)) url.pathname = `${url.pathname.replace(/\/$/, '')}/ingest`;
  return url;
};

/** The address of one profile: what it is called and when it was. */
const ingestUrl = (base: URL, name: string, profile: LabelledProfile): URL => {
  const url = new URL(base);
  const from = Math.floor(Number(profile.startUnixNs) / NS_PER_SECOND);
  const until = Math.ceil((Number(profile.startUnixNs) + profile.endNs - profile.startNs) / NS_PER_SECOND);
  const parameters = {
    name,
    from: String(from),
    until: String(Math.max(until, from + 1)),
    format: 'pprof',
    spyName: 'nodespy',
    sampleRate: String(Math.max(1, Math.round(NS_PER_SECOND / profile.intervalNs))),
  };
  for (const [key, value] of Object.entries(parameters)) url.searchParams.set(key, value);
  return url;
};

/**
 * A sink that pushes every profile to Pyroscope's `/ingest` as pprof.
 *
 * For continuous profiles of many processes in one place. Answers of 408, 429 and 5xx, and no answer, are tried again with growing
 * pauses; `Retry-After` is obeyed up to 30 seconds. Needs the package `pprof-format`.
 *
 * @example
 * ```ts
 * import { pyroscopeSink } from '@spanline/profile';
 * const sink = pyroscopeSink({ endpoint: 'http://localhost:4040', name: 'shop', tags: { region: 'eu' } });
 * console.assert(sink.stats().profiles === 0);
 * ```
 */
export const pyroscopeSink = (options: PyroscopeSinkOptions): CountingSink<PyroscopeSinkStats> => {
  const {
    tags = {},
    headers = {},
    keepKey = (key) => key !== 'trace_id',
    attempts = DEFAULT_ATTEMPTS,
    timeoutMs = DEFAULT_TIMEOUT_MS,
    backoffMs = DEFAULT_BACKOFF_MS,
  } = options;
  const base = addressOf(options.endpoint);
  if (options.name === '') throw wrongOutputOption('name is empty; give the name of the application');
  wholeNumber('attempts', attempts, [1], wrongOutputOption);
  for (const [option, ms] of Object.entries({ timeoutMs, backoffMs }))
    finiteNumber(option, ms, [0, LONGEST_TIMEOUT_MS], wrongOutputOption);
  orThrow(
    () => new Headers(headers),
    ({ message }) => wrongOutputOption(`headers cannot be sent: ${message}`),
  );
  const name = fullName(options.name, tags);
  const stats = { profiles: 0, bytes: 0, retries: 0, failures: 0, lastStatus: 0 };
  // Credentials stay out of messages, and fetch refuses them in an address.
  const shown = `${base.origin}${base.pathname}`;
  const authorization: Record<string, string> =
    base.username === ''
      ? {}
      : {
          authorization: `Basic ${Buffer.from(`${decodeURIComponent(base.username)}:${decodeURIComponent(base.password)}`).toString('base64')}`,
        };
  base.username = '';
  base.password = '';

  const send = async (url: URL, bytes: Uint8Array): Promise<Attempt> => {
    const body = new FormData();
    body.append('profile', new Blob([bytes]), 'profile.pprof');
    body.append(
      'sample_type_config',
      new Blob([SAMPLE_TYPES], { type: 'application/json' }),
      'sample_type_config.json',
    );
    try {
      const response = await fetch(url, {
        method: 'POST',
        body,
        headers: { ...authorization, ...headers },
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
      stats.lastStatus = response.status;
      if (response.ok) {
        await response.body?.cancel();
        return { isTaken: true };
      }
      const words = quoteWords(await beginningOf(response), QUOTED);
      const error = failure(`${shown} answered ${response.status}${words === '' ? '' : `: ${words}`}`);
      const waitMs = retryAfterMs(response.headers.get('retry-after'));
      return { isTaken: false, error, mayRetry: RETRYABLE.has(response.status), waitMs };
    } catch (cause) {
      stats.lastStatus = 0;
      const isLate = (cause as Error).name === 'TimeoutError';
      const why = isLate ? `did not answer within ${timeoutMs} ms` : `could not be reached: ${causeOf(cause)}`;
      return { isTaken: false, error: failure(`${shown} ${why}`, cause), mayRetry: true };
    }
  };

  return countingSink(stats, async (profile) => {
    const bytes = encodePprof(await import('pprof-format'), selectLabels(profile, keepKey), options);
    const url = ingestUrl(base, name, profile);
    for (let attempt = 1; ; attempt++) {
      const outcome = await send(url, bytes);
      if (outcome.isTaken) break;
      if (attempt === attempts || !outcome.mayRetry) throw outcome.error;
      await sleep(outcome.waitMs ?? pauseMs(attempt, { firstMs: backoffMs, maxMs: LONGEST_WAIT_MS }));
      stats.retries++;
    }
    stats.bytes += bytes.length;
  });
};

/** Not all of it: a server may answer without end. */
const beginningOf = async ({ body }: Response): Promise<string> => {
  if (body === null) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
};

const causeOf = (error: unknown): string => {
  const { cause, message } = error as Error;
  return cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : message;
};
