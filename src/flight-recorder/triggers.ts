// What makes the recorder write a snapshot by itself. It listens without changing how a process behaves or ends, and what it cannot do it
// counts: nothing here may throw into the program.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { nsPerTick } from '../clock/index.js';
import { endsProcess } from '../collector/exit.js';
import type { ActiveTrace, EndedRoot } from '../span/active-trace.js';
import type { SnapshotReason } from './snapshot-types.js';
import type { ResolvedTriggers } from './trigger-options.js';
import { UsualDurations } from './usual-durations.js';

/** Writes a snapshot to a file; `isLast`: now, for the process ends. Calls `done` when it is there. */
export type WriteSnapshot = (reason: SnapshotReason, path: string, isLast: boolean, done: () => void) => void;

const FATAL: readonly string[] = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'];

/** The name of a new file says when, who and why. */
export const snapshotPath = (directory: string, kind: SnapshotReason['kind']): string =>
  join(directory, `${new Date().toISOString().replaceAll(':', '-')}-${process.pid}-${kind}.flight`);

export class Triggers {
  readonly #options: ResolvedTriggers;
  readonly #write: WriteSnapshot;
  readonly #usual = new UsualDurations();
  readonly #offs: (() => void)[] = [];
  #lastMs = Number.NEGATIVE_INFINITY;
  #isWaiting = false;
  #hasCrashed = false;
  /** Files asked for, and triggers that came too soon after another one. */
  written = 0;
  skipped = 0;

  constructor(options: ResolvedTriggers, write: WriteSnapshot) {
    this.#options = options;
    this.#write = write;
  }

  /** Listen. */
  start(): void {
    const { signal, crash } = this.#options;
    if (signal !== undefined) this.#onSignal(signal);
    if (crash === true) this.#onCrash();
  }

  stop(): void {
    for (const off of this.#offs.splice(0)) off();
  }

  /** True when the trace of a root that has ended is wanted. */
  ended(trace: ActiveTrace, root: EndedRoot): boolean {
    const reason = this.#reasonOf(trace, root);
    if (reason === undefined) return false;
    this.#soon(reason);
    return true;
  }

  /** The event loop was busy for so long. */
  stalled(ms: number): void {
    const { stallMs } = this.#options;
    if (stallMs === undefined || ms < stallMs) return;
    this.#soon({ kind: 'stall', text: `the event loop was busy for ${ms.toFixed(0)} ms`, traceId: '' });
  }

  #reasonOf(trace: ActiveTrace, { name, begin, endTicks }: EndedRoot): SnapshotReason | undefined {
    const { slowMs, timesUsual, error } = this.#options;
    const ns = (endTicks - begin) * nsPerTick();
    const usual = timesUsual === undefined ? undefined : this.#usual.add(name, ns);
    const took = (more = ''): string => `${name} took ${(ns / 1e6).toPrecision(4)} ms${more}`;
    const traceId = (): string => trace.context.traceId;
    if (slowMs !== undefined && ns > slowMs * 1e6) return { kind: 'slow', text: took(), traceId: traceId() };
    if (usual !== undefined && ns > usual * (timesUsual as number)) {
      const more = `, where 99 of 100 take at most ${(usual / 1e6).toPrecision(3)} ms`;
      return { kind: 'slow', text: took(more), traceId: traceId() };
    }
    if (error === true && trace.errors > 0) return { kind: 'error', text: `${name} has an error`, traceId: traceId() };
    return undefined;
  }

  // What ends in the same turn of the event loop is to be in it.
  #soon(reason: SnapshotReason): void {
    if (this.#options.directory === undefined) return;
    if (this.#isWaiting || performance.now() - this.#lastMs < this.#options.minIntervalMs) {
      this.skipped++;
      return;
    }
    this.#isWaiting = true;
    setImmediate(() => {
      this.#isWaiting = false;
      this.#lastMs = performance.now();
      this.#toFile(reason, false);
    });
  }

  #toFile(reason: SnapshotReason, isLast: boolean): void {
    const { directory } = this.#options;
    if (directory === undefined) return;
    this.written++;
    this.#write(reason, snapshotPath(directory, reason.kind), isLast, () => this.#removeOld(directory));
  }

  #removeOld(directory: string): void {
    try {
      const files = readdirSync(directory).filter((name) => /^\d{4}-.*\.flight$/.test(name));
      const most = this.#options.maxFiles;
      for (const name of files.sort().slice(0, Math.max(0, files.length - most))) rmSync(join(directory, name));
    } catch {
      // Another process may have deleted it first.
    }
  }

  #on(event: string, listener: (...args: never[]) => void): void {
    process.on(event, listener as (...args: unknown[]) => void);
    this.#offs.push(() => process.off(event, listener as (...args: unknown[]) => void));
  }

  #onSignal(signal: NodeJS.Signals): void {
    const handler = (): void => {
      this.#toFile({ kind: 'signal', text: signal, traceId: '' }, true);
      // Nobody else listens: it ends the process as it would have without us.
      if (!FATAL.includes(signal) || process.listenerCount(signal) > 1) return;
      process.off(signal, handler);
      process.kill(process.pid, signal);
    };
    endsProcess(handler);
    this.#on(signal, handler);
  }

  #onCrash(): void {
    this.#on('uncaughtExceptionMonitor', (error: unknown, origin: string) => {
      this.#hasCrashed = true;
      const kind = origin === 'unhandledRejection' ? 'unhandled-rejection' : 'uncaught-exception';
      this.#toFile({ kind, text: textOf(error), traceId: '' }, true);
    });
    this.#on('exit', (code: number) => {
      if (code === 0 || this.#hasCrashed) return;
      this.#toFile({ kind: 'exit-code', text: `exit code ${code}`, traceId: '' }, true);
    });
  }
}

const textOf = (error: unknown): string => {
  try {
    return String(error).slice(0, 512);
  } catch {
    return 'an error that cannot be shown';
  }
};
