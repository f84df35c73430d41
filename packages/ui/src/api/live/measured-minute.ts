// The last minute of services by their own metrics, which count everything whatever is sampled: read from where Prometheus reads them, once a second while
// somebody watches. What is shown are differences of what a service has counted, so numbers are those of Prometheus over the same minute. A service that
// does not answer is named, and must not keep others from being shown; one that begins anew counts from there on.

import { timers, within } from 'spanline/internal/base';
import type { LiveMeasured, MeasuredRow } from '../answers.js';
import { type MetricsText, readMetricsText, type Totals } from './metrics-text.js';

const MINUTE_MS = 60_000;
/** Readings of a service that are kept, one a second; more only where the clock was put back. */
const MAX_READINGS = 64;

interface Reading {
  readonly ms: number;
  readonly text: MetricsText;
}

/** What was counted between two readings. */
interface Growth {
  count: number;
  failed: number;
  perSecond: number;
  readonly boundaries: readonly number[];
  readonly buckets: Float64Array;
}

const totalOf = ({ buckets }: { readonly buckets: Float64Array }): number => buckets.reduce((sum, one) => sum + one, 0);

/** A sum that has shrunk is that of another process. */
const isAnew = (before: MetricsText, after: MetricsText): boolean =>
  [...before.rows].some(([key, row]) => {
    const now = after.rows.get(key);
    return now === undefined || totalOf(now) < totalOf(row);
  });

/** The readings of one service. */
export class ServiceMinute {
  readonly #readings: Reading[] = [];

  add(text: MetricsText, ms: number): void {
    const last = this.#readings.at(-1);
    if (last !== undefined && (ms < last.ms || isAnew(last.text, text))) this.#readings.length = 0;
    this.#readings.push({ text, ms });
    if (this.#readings.length > MAX_READINGS) this.#readings.shift();
    this.forget(ms);
  }

  /** What lies more than a minute before `ms`, but for one that the minute begins with. */
  forget(ms: number): void {
    while ((this.#readings.at(1)?.ms ?? Number.POSITIVE_INFINITY) <= ms - MINUTE_MS) this.#readings.shift();
    if ((this.last?.ms ?? ms) <= ms - MINUTE_MS) this.#readings.length = 0;
  }

  get first(): Reading | undefined {
    return this.#readings[0];
  }

  get last(): Reading | undefined {
    return this.#readings.at(-1);
  }
}

const growthOf = (row: Totals, before: Totals | undefined, seconds: number): Growth => {
  const buckets = row.buckets.map((value, i) => value - (before?.buckets[i] ?? 0));
  const count = totalOf({ buckets });
  return {
    ...{ count, buckets, boundaries: row.boundaries },
    failed: row.failed - (before?.failed ?? 0),
    perSecond: count / seconds,
  };
};

const addAll = (sum: Growth, other: Growth): void => {
  sum.count += other.count;
  sum.failed += other.failed;
  sum.perSecond += other.perSecond;
  if (sum.buckets.length === other.buckets.length)
    for (let i = 0; i < sum.buckets.length; i++) sum.buckets[i] += other.buckets[i];
};

/** Inside a bucket as Prometheus does it: as if its values were spread evenly. */
export const quantile = (share: number, boundaries: readonly number[], buckets: Float64Array): number => {
  const rank = share * totalOf({ buckets });
  let below = 0;
  for (let i = 0; i < boundaries.length; i++) {
    if (below + buckets[i] >= rank && buckets[i] > 0) {
      const from = boundaries[i - 1] ?? 0;
      return from + ((boundaries[i] - from) * (rank - below)) / buckets[i];
    }
    below += buckets[i];
  }
  return boundaries.at(-1) ?? 0;
};

/** Rows of services of one name are one: processes of a cluster. */
export const measuredOf = (services: readonly ServiceMinute[]): Omit<LiveMeasured, 'failures'> => {
  const all = new Map<string, Growth>();
  let seconds = 0;
  for (const { first, last } of services) {
    if (first === undefined || last === undefined || first === last) continue;
    const passed = (last.ms - first.ms) / 1000;
    seconds = Math.max(seconds, passed);
    for (const [key, row] of last.text.rows) {
      const growth = growthOf(row, first.text.rows.get(key), passed);
      if (growth.count === 0) continue;
      const id = JSON.stringify([last.text.service, row.what, row.name]);
      const sum = all.get(id);
      if (sum === undefined) all.set(id, growth);
      else addAll(sum, growth);
    }
  }
  const rows = [...all].map(([id, { count, failed, perSecond, boundaries, buckets }]): MeasuredRow => {
    const [service, what, name] = JSON.parse(id) as [string, string, string];
    const [p50Us, p95Us, p99Us] = [0.5, 0.95, 0.99].map((one) => quantile(one, boundaries, buckets) * 1e6);
    return { service, what, name, count, perSecond, errors: failed, p50Us, p95Us, p99Us };
  });
  return { seconds, rows: rows.sort((a, b) => b.count - a.count) };
};

const TIMEOUT_MS = 5000;
const MAX_BYTES = 32 << 20;

const textAt = async (url: string): Promise<string> => {
  const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!answer.ok) throw new Error(`it answered ${answer.status}`);
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of answer.body ?? []) {
    bytes += piece.length;
    if (bytes > MAX_BYTES) throw new Error(`it sent more than ${MAX_BYTES >> 20} MiB`);
    pieces.push(Buffer.from(piece));
  }
  return Buffer.concat(pieces).toString();
};

const reasonOf = (error: Error): string => {
  const { code } = (error.cause ?? {}) as { readonly code?: string };
  return error.name === 'TimeoutError' ? `no answer in ${TIMEOUT_MS / 1000} seconds` : (code ?? error.message);
};

/** How long an event waits for those that have not answered yet: it has what they said before. */
const WAIT_MS = 500;

class WatchedService {
  readonly url: string;
  readonly minute = new ServiceMinute();
  /** Why it was not read last. */
  reason: string | undefined;
  #inFlight: Promise<void> | undefined;

  constructor(url: string) {
    this.url = url;
  }

  /** One reading at a time. */
  read(): Promise<void> {
    this.#inFlight ??= this.#read().finally(() => {
      this.#inFlight = undefined;
    });
    return this.#inFlight;
  }

  async #read(): Promise<void> {
    try {
      this.minute.add(readMetricsText(await textAt(this.url)), timers.wallMs());
      this.reason = undefined;
    } catch (error) {
      this.reason = reasonOf(error as Error);
      this.minute.forget(timers.wallMs());
    }
  }
}

/** Services by the addresses of their metrics. */
export class MeasuredMinute {
  readonly #services: readonly WatchedService[];

  constructor(urls: readonly string[]) {
    this.#services = urls.map((url) => new WatchedService(url));
  }

  /** Never rejects. */
  async look(): Promise<LiveMeasured> {
    const readings = Promise.all(this.#services.map((service) => service.read()));
    await within(
      WAIT_MS,
      readings.then(() => {}),
    );
    return {
      ...measuredOf(this.#services.map(({ minute }) => minute)),
      failures: this.#services.flatMap(({ url, reason }) => (reason === undefined ? [] : [{ url, reason }])),
    };
  }
}
