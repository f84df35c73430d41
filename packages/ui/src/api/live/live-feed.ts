// The last minute of an archive, and of services by their own metrics, in figures, counted as requests arrive, however many do, while somebody watches, and sent once a second to all who
// do, as server-sent events. However many watch, the archive is read once; a page that reads too slowly misses events, it never makes them pile up. A
// request counts in the second in which it ended. What is kept is a slot a second, with counts for a bounded number of operations, and no request but
// those that are listed. Durations are counted in steps that grow by 2 %, so that a percentile of any number of them is known within 1 %; counts of
// several stretches of time are added up, never averaged.

import { existsSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { Archive } from '@spanline/archive';
import { type Arrivals, HttpError, type Request, type Route } from '@spanline/archive/internal';
import { getOrMake, timers } from 'spanline/internal/base';
import type { LiveArchive, LiveEvent, LiveMinute, LiveOperation, LiveRequest } from '../answers.js';
import type { UiSources } from '../api-route.js';
import { MeasuredMinute } from './measured-minute.js';

/** How far a percentile may be from the true one. */
const RELATIVE_ERROR = 0.01;

const GROWTH = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR);
const LOG_GROWTH = Math.log(GROWTH);
const DAY_US = 86_400e6;

/** Everything up to a microsecond is in the first step, everything from a day on in the last. */
const STEPS = Math.ceil(Math.log(DAY_US) / LOG_GROWTH) + 1;

const stepOf = (us: number): number =>
  us <= 1 ? 0 : Math.min(STEPS - 1, Math.max(0, Math.ceil(Math.log(us) / LOG_GROWTH)));

/** The value that is at most 1 % from all of a step. */
const middleOf = (step: number): number => (step === 0 ? 1 : (2 * GROWTH ** step) / (GROWTH + 1));

/** Counts of durations. */
class DurationCounts {
  readonly #steps = new Uint32Array(STEPS);
  #total = 0;

  add(us: number): void {
    this.#steps[stepOf(us)]++;
    this.#total++;
  }

  addAll(other: DurationCounts): void {
    for (let step = 0; step < STEPS; step++) this.#steps[step] += other.#steps[step];
    this.#total += other.#total;
  }

  /** The duration that `share` of all do not exceed, by nearest rank, in microseconds; at least one is needed. */
  percentile(share: number): number {
    let left = Math.max(1, Math.ceil(share * this.#total));
    let step = 0;
    while (step < STEPS - 1) {
      left -= this.#steps[step];
      if (left <= 0) break;
      step++;
    }
    return middleOf(step);
  }
}

/** Seconds looked back. */
const SECONDS = 60;
/** Operations followed at a time; requests of further ones are counted together. */
export const MAX_OPERATIONS = 100;
const LISTED = 10;
/** The minute, the second that is not over, and a little for clocks of other machines that go before. */
const SLOTS = SECONDS + 4;

class OperationCounts {
  count = 0;
  failed = 0;
  readonly durations = new DurationCounts();
}

class Slot {
  ended = 0;
  failed = 0;
  roots = 0;
  further = 0;
  readonly byOperation = new Map<string, OperationCounts>();
  readonly newest: LiveRequest[] = [];
  readonly slowest: LiveRequest[] = [];

  constructor(readonly second: number) {}
}

const endOf = ({ startUs, durationUs }: LiveRequest): number => startUs + durationUs;
const durationOf = ({ durationUs }: LiveRequest): number => durationUs;

/** Keep the first few by `measure`, the largest first: one of a trace. */
const keep = (list: LiveRequest[], request: LiveRequest, measure: (one: LiveRequest) => number): void => {
  const value = measure(request);
  if (list.length === LISTED && measure(list[LISTED - 1]) >= value) return;
  const same = list.findIndex(({ traceId }) => traceId === request.traceId);
  if (same >= 0 && measure(list[same]) >= value) return;
  if (same >= 0) list.splice(same, 1);
  let at = list.length;
  while (at > 0 && measure(list[at - 1]) < value) at--;
  list.splice(at, 0, request);
  if (list.length > LISTED) list.pop();
};

const shown = ({ traceId, name, service, startUnixNs, endUnixNs, isFailed, httpStatus }: Request): LiveRequest => ({
  ...{ traceId, name, service, status: { http: httpStatus, isFailed } },
  startUs: Number(startUnixNs / 1000n),
  durationUs: Math.max(0, Number(endUnixNs - startUnixNs) / 1000),
});

/** Figures of the minute that goes on. */
export class MinuteCounts {
  readonly #slots: (Slot | undefined)[] = new Array(SLOTS).fill(undefined);
  /** Operations, with the newest second in which each had a request. */
  readonly #operations = new Map<string, number>();

  /** Count a request that ended in the minute before `nowMs`, Unix milliseconds; no other one counts. */
  add(request: Request, nowMs: number): void {
    const second = Number(request.endUnixNs / 1_000_000_000n);
    const now = Math.floor(nowMs / 1000);
    if (second < now - SECONDS || second >= now + SLOTS - SECONDS) return;
    const slot = this.#slotOf(second);
    const one = shown(request);
    slot.ended++;
    if (request.isFailed) slot.failed++;
    if (request.isRoot) slot.roots++;
    keep(slot.newest, one, endOf);
    keep(slot.slowest, one, durationOf);
    const operation = JSON.stringify([one.service, one.name]);
    if (!this.#follows(operation, second, now)) {
      slot.further++;
      return;
    }
    const counts = getOrMake(slot.byOperation, operation, () => new OperationCounts());
    counts.count++;
    if (request.isFailed) counts.failed++;
    counts.durations.add(one.durationUs);
  }

  /** The whole seconds of the minute before `nowMs`; what ended before `sinceMs` was not all counted, 0: everything was. */
  minute(nowMs: number, sinceMs = 0): Omit<LiveMinute, 'damagedFiles'> {
    const now = Math.floor(nowMs / 1000);
    const known = Math.min(SECONDS, Math.max(1, now - Math.ceil(sinceMs / 1000)));
    const slots = Array.from({ length: known }, (_, i) => this.#slotAt(now - known + i));
    const perSecond = (of: (slot: Slot) => number): number[] =>
      slots.map((slot) => (slot === undefined ? 0 : of(slot)));
    const sum = (of: (slot: Slot) => number): number => perSecond(of).reduce((total, count) => total + count, 0);
    const withNow = [...slots, this.#slotAt(now)];
    const listed = (of: (slot: Slot) => readonly LiveRequest[], measure: (one: LiveRequest) => number) => {
      const list: LiveRequest[] = [];
      for (const slot of withNow) for (const one of slot === undefined ? [] : of(slot)) keep(list, one, measure);
      return list;
    };
    return {
      ended: perSecond(({ ended }) => ended),
      failed: perSecond(({ failed }) => failed),
      traces: sum(({ roots }) => roots),
      operations: operationsOf(slots),
      further: sum(({ further }) => further),
      newest: listed(({ newest }) => newest, endOf),
      slowest: listed(({ slowest }) => slowest, durationOf),
    };
  }

  #slotOf(second: number): Slot {
    const found = this.#slotAt(second);
    if (found !== undefined) return found;
    const slot = new Slot(second);
    this.#slots[second % SLOTS] = slot;
    return slot;
  }

  #slotAt(second: number): Slot | undefined {
    const slot = this.#slots[second % SLOTS];
    return slot?.second === second ? slot : undefined;
  }

  /** Whether there is room for the operation, also that of one which had no request for a minute. */
  #follows(operation: string, second: number, now: number): boolean {
    const newest = this.#operations.get(operation);
    if (newest === undefined && this.#operations.size >= MAX_OPERATIONS) {
      for (const [other, last] of this.#operations) if (last < now - SECONDS) this.#operations.delete(other);
      if (this.#operations.size >= MAX_OPERATIONS) return false;
    }
    this.#operations.set(operation, Math.max(newest ?? 0, second));
    return true;
  }
}

/** The busiest first. */
const operationsOf = (slots: readonly (Slot | undefined)[]): LiveOperation[] => {
  const all = new Map<string, OperationCounts>();
  for (const slot of slots) {
    for (const [operation, { count, failed, durations }] of slot?.byOperation ?? []) {
      const sum = getOrMake(all, operation, () => new OperationCounts());
      sum.count += count;
      sum.failed += failed;
      sum.durations.addAll(durations);
    }
  }
  const operations = [...all].map(([operation, { count, failed, durations }]) => {
    const [service, name] = JSON.parse(operation) as [string, string];
    const [p50Us, p95Us, p99Us] = [0.5, 0.95, 0.99].map((share) => durations.percentile(share));
    return { service, name, count, errors: failed, p50Us, p95Us, p99Us };
  });
  return operations.sort((a, b) => b.count - a.count);
};

const MAX_LISTENERS = 16;
const EVERY_MS = 1000;
/** Looks with nobody watching before the archive is followed no more: a page that is loaded again comes back at once. */
const IDLE_LOOKS = 10;

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  // A connection that this used is of no use for anything else.
  connection: 'close',
};

interface Following {
  readonly arrivals: Arrivals | undefined;
  readonly counts: MinuteCounts;
  readonly measured: MeasuredMinute | undefined;
}

/** The stream of one server. */
class LiveFeed {
  readonly #archive: Archive | undefined;
  readonly #metrics: readonly string[];
  readonly #listeners = new Set<ServerResponse>();
  /** There is never more than one timer. */
  #following: Following | undefined;
  #idleLooks = 0;

  constructor({ archive, metrics = [] }: UiSources) {
    this.#archive = archive;
    this.#metrics = metrics;
  }

  /** Send events until the response is closed, by either side. Throws `HttpError` 503 when too many listen. */
  listen(response: ServerResponse): void {
    if (this.#listeners.size >= MAX_LISTENERS)
      throw new HttpError(503, `${MAX_LISTENERS} pages watch already: close one of them`);
    if (this.#following === undefined) {
      this.#following = {
        arrivals: this.#archive?.arrivals(),
        counts: new MinuteCounts(),
        measured: this.#metrics.length === 0 ? undefined : new MeasuredMinute(this.#metrics),
      };
      void this.#look(this.#following);
    }
    response.writeHead(200, HEADERS).flushHeaders();
    this.#listeners.add(response);
    response.once('close', () => this.#listeners.delete(response));
  }

  async #look(following: Following): Promise<void> {
    const text = `data: ${JSON.stringify(await this.#event(following))}\n\n`;
    for (const response of this.#listeners) {
      if (!response.writableNeedDrain && !response.writableEnded) response.write(text);
    }
    this.#idleLooks = this.#listeners.size > 0 ? 0 : this.#idleLooks + 1;
    timers
      .setTimeout(() => {
        if (this.#idleLooks < IDLE_LOOKS || this.#listeners.size > 0) return void this.#look(following);
        following.arrivals?.close();
        this.#following = undefined;
      }, EVERY_MS)
      .unref();
  }

  async #event({ arrivals, counts, measured }: Following): Promise<LiveEvent> {
    const [archive, services] = await Promise.all([
      arrivals === undefined ? undefined : this.#minute(arrivals, counts),
      measured?.look(),
    ]);
    return { archive, measured: services };
  }

  async #minute(arrivals: Arrivals, counts: MinuteCounts): Promise<LiveArchive> {
    const { directory } = this.#archive as Archive;
    try {
      await arrivals.look(timers.wallMs() - SECONDS * 1000, (request) => counts.add(request, timers.wallMs()));
      const minute = counts.minute(timers.wallMs(), arrivals.sinceMs);
      if (minute.newest.length === 0 && !existsSync(directory)) return { waitsFor: directory };
      return { ...minute, damagedFiles: arrivals.damagedFiles };
    } catch (error) {
      return { error: (error as Error).message };
    }
  }
}

/** The routes of the view; none without a source. */
export const liveRoutes = (sources: UiSources): Route[] => {
  if (sources.archive === undefined && (sources.metrics ?? []).length === 0) return [];
  const feed = new LiveFeed(sources);
  return [
    {
      method: 'GET',
      path: ['ui', 'api', 'live'],
      isQuery: false,
      isEndless: true,
      handle: ({ response }) => feed.listen(response),
    },
  ];
};
