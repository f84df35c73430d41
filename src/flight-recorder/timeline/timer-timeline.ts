// The timeline without the addon: a timer that comes late shows that the loop was busy, not with what. Must not keep the process alive.
import { PerformanceObserver } from 'node:perf_hooks';
import { timers } from '../../base/calls/timers.js';
import type { TimelineRow } from './timeline-row.js';
import { collectionKind, NO_COUNTS, type TimelineCounts, type TimelineSource, unixNow } from './timeline-source.js';

const PERIOD_MS = 20;

/** Milliseconds of `performance.now()`. */
interface TimedRow {
  readonly kind: 'busy' | 'gc';
  readonly startMs: number;
  readonly endMs: number;
  readonly detail: string;
}

export class TimerTimeline implements TimelineSource {
  readonly source = 'timer';
  readonly #rings = { busy: [] as TimedRow[], gc: [] as TimedRow[] };
  readonly #written = { busy: 0, gc: 0 };
  readonly #timer: NodeJS.Timeout;
  readonly #observer: PerformanceObserver;
  #dueMs = timers.monotonicMs() + PERIOD_MS;

  readonly #busyMs: number;
  readonly #maxRows: number;

  constructor(busyMs: number, maxRows: number) {
    this.#busyMs = busyMs;
    this.#maxRows = maxRows;
    this.#timer = timers.setInterval(() => this.#tick(), PERIOD_MS).unref();
    this.#observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { kind = 0 } = (entry as { detail?: { kind?: number } }).detail ?? {};
        const endMs = entry.startTime + entry.duration;
        const detail = collectionKind(kind);
        this.#add({ kind: 'gc', startMs: entry.startTime, endMs, detail });
      }
    });
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  stop(): void {
    timers.clearInterval(this.#timer);
    this.#observer.disconnect();
  }

  rows(sinceUs = Number.NEGATIVE_INFINITY): TimelineRow[] {
    const nowUs = unixNow();
    const nowMs = timers.monotonicMs();
    const toUnix = (ms: number): number => nowUs - (nowMs - ms) * 1000;
    return [...this.#rings.busy, ...this.#rings.gc]
      .filter(({ endMs }) => toUnix(endMs) > sinceUs)
      .sort((a, b) => a.startMs - b.startMs)
      .map(({ kind, startMs, endMs, detail }) => {
        return { kind, startUs: toUnix(startMs), endUs: toUnix(endMs), detail, parts: [] };
      });
  }

  counts(): TimelineCounts {
    const rows = this.#rings.busy.length + this.#rings.gc.length;
    return { ...NO_COUNTS, rows, rowsDropped: this.#written.busy + this.#written.gc - rows };
  }

  keptFromUs(): number {
    const { busy, gc } = this.#rings;
    const [nowUs, nowMs] = [unixNow(), timers.monotonicMs()];
    const dropped = [busy, gc].filter((rows, i) => [this.#written.busy, this.#written.gc][i] > rows.length);
    // A ring that is full holds rows in any order: the oldest is the first that began.
    const fromMs = dropped.map((rows) =>
      rows.reduce((first, { startMs }) => Math.min(first, startMs), Number.POSITIVE_INFINITY),
    );
    return fromMs.reduce((last, ms) => Math.max(last, nowUs - (nowMs - ms) * 1000), Number.NEGATIVE_INFINITY);
  }

  #tick(): void {
    const nowMs = timers.monotonicMs();
    if (nowMs - this.#dueMs >= this.#busyMs) {
      this.#add({ kind: 'busy', startMs: this.#dueMs, endMs: nowMs, detail: '' });
    }
    this.#dueMs = nowMs + PERIOD_MS;
  }

  #add(row: TimedRow): void {
    const { kind } = row;
    this.#rings[kind][this.#written[kind]++ % this.#maxRows] = row;
  }
}
