// What makes the recorder write a snapshot by itself, and how it sees what ends a process, and what would if the application did not take it:
// uncaught exceptions, unhandled rejections, exit codes. It must change nothing of how a process behaves or ends, so it never listens to
// `uncaughtException` or `unhandledRejection`: a listener keeps the process alive. What it cannot do it counts: nothing here may throw into the
// program.
import { attempt } from '../base/calls/attempt.js';
import { timers } from '../base/calls/timers.js';
import { nsPerTick } from '../clock/index.js';
import { onSignal } from '../collector/exit.js';
import type { ActiveTrace, EndedRoot } from '../span/active-trace.js';
import type { BlockSnapshot } from './block-snapshot.js';
import { SnapshotDirectory, SnapshotWrites, writeSnapshotFileSync } from './snapshot-file.js';
import type { SnapshotReason } from './snapshot-types.js';
import type { TimelineRow } from './timeline/timeline-row.js';
import { endsByDefault, type ResolvedTriggers } from './trigger-options.js';
import { UsualDurations } from './usual-durations.js';

type Emit = (this: unknown, event: string | symbol, ...args: unknown[]) => boolean;

const textOf = (error: unknown): string =>
  attempt(() => String(error).slice(0, 512)) ?? 'an error that cannot be shown';

const reasonOf = (error: unknown, origin: string): SnapshotReason => {
  const kind = origin === 'unhandledRejection' ? 'unhandled-rejection' : 'uncaught-exception';
  return { kind, text: textOf(error), traceId: '' };
};

/** Whether somebody takes an exception that nothing has caught. */
const isTaken = (): boolean =>
  process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback();

/** A name for a message. A program without types gives anything for one; to make a text of an object runs code of the program. */
const plainName = (name: unknown): string =>
  typeof name === 'object' || typeof name === 'function' ? 'a root' : String(name);

class CrashWatch {
  /** What is called of it may not throw. */
  readonly #to: Triggers;
  readonly #offs: (() => void)[] = [];
  // Rejections that nobody took, of which no exception has come.
  #rejected: SnapshotReason | undefined;

  constructor(to: Triggers) {
    this.#to = to;
  }

  start(): void {
    this.#on('uncaughtExceptionMonitor', (error, origin) => {
      this.#rejected = undefined;
      this.#to.crashed(reasonOf(error, String(origin)), !isTaken());
    });
    this.#on('exit', (code) => {
      if (code !== 0) this.#to.exiting(Number(code));
    });
    this.#wrapEmit();
  }

  stop(): void {
    for (const off of this.#offs.splice(0)) off();
  }

  #on(event: string, listener: (...args: unknown[]) => void): void {
    process.on(event, listener);
    this.#offs.push(() => process.off(event, listener));
  }

  // Node calls it for each of these events, whether anybody listens or not: the only way to see them without being one who listens.
  #wrapEmit(): void {
    const watch = this;
    const holder = process as unknown as { emit: Emit };
    const isOwn = Object.hasOwn(process, 'emit');
    const before = holder.emit;
    let isOn = true;
    const emit: Emit = function (event, ...args) {
      if (!isOn || (event !== 'uncaughtException' && event !== 'unhandledRejection')) {
        return Reflect.apply(before, this, [event, ...args]);
      }
      return watch.#emitCrash(event, args, () => Reflect.apply(before, this, [event, ...args]));
    };
    holder.emit = emit;
    this.#offs.push(() => {
      isOn = false;
      // Somebody else may have wrapped it since.
      if (holder.emit !== emit) return;
      if (isOwn) holder.emit = before;
      else delete (holder as Partial<typeof holder>).emit;
    });
  }

  #emitCrash(event: string, [error]: readonly unknown[], emit: () => boolean): boolean {
    let isHandled: boolean;
    try {
      isHandled = emit();
    } catch (thrown) {
      // A listener threw: Node ends the process with the code 7, and nothing else is called.
      if (event === 'uncaughtException') this.#to.crashed(reasonOf(error, event), true);
      throw thrown;
    }
    if (event !== 'unhandledRejection') return isHandled;
    const reason = reasonOf(error, event);
    if (isHandled) this.#to.crashed(reason, false);
    else this.#wait(reason);
    return isHandled;
  }

  // By default it becomes an exception now; with `--unhandled-rejections=warn` or `none` it does not.
  #wait(reason: SnapshotReason): void {
    this.#rejected = reason;
    timers.setImmediate(() => {
      if (this.#rejected !== reason) return;
      this.#rejected = undefined;
      this.#to.crashed(reason, false);
    });
  }
}

/** The cut at this moment. */
type TakeSnapshot = (reason: SnapshotReason) => BlockSnapshot;

/** Milliseconds after a write that has failed, before the next one. */
const RETRY_MS = 1000;

const CRASHES: readonly SnapshotReason['kind'][] = ['uncaught-exception', 'unhandled-rejection'];

/** Whether what ends the process is the crash that was seen before, or the exit that an application makes of it. */
const isOfOneCrash = (seen: SnapshotReason, end: SnapshotReason): boolean =>
  CRASHES.includes(seen.kind) && (end.kind === 'exit-code' || (end.kind === seen.kind && end.text === seen.text));

export class Triggers {
  readonly #options: ResolvedTriggers;
  readonly #take: TakeSnapshot;
  readonly #directory: SnapshotDirectory | undefined;
  readonly #writes = new SnapshotWrites();
  readonly #crashes = new CrashWatch(this);
  #offSignal: (() => void) | undefined;
  #nextMs = Number.NEGATIVE_INFINITY;
  #isWaiting = false;
  // Up to where stalls have triggered, microseconds of Unix time.
  #stalledUs = 0;
  // What the application has taken in this turn, while no file of it is there or being written.
  #unwritten: SnapshotReason | undefined;
  #hasEnded = false;
  // Of the file that is being written.
  #inFlight: SnapshotReason | undefined;
  readonly usual = new UsualDurations();
  /** Files written, triggers that came too soon after another one, and writes that have failed. */
  written = 0;
  skipped = 0;
  failed = 0;

  constructor(options: ResolvedTriggers, take: TakeSnapshot) {
    this.#options = options;
    this.#take = take;
    const { directory, maxFiles } = options;
    this.#directory = directory === undefined ? undefined : new SnapshotDirectory(directory, maxFiles);
  }

  /** Listen. */
  start(): void {
    this.#directory?.removeOld();
    const { signal, crash } = this.#options;
    if (crash === true) this.#crashes.start();
    if (signal === undefined) return;
    const reason = { kind: 'signal', text: signal, traceId: '' } as const;
    const work = (_: string, isLast: boolean): undefined => this.#now(reason, isLast);
    this.#offSignal = onSignal(signal, work, endsByDefault(signal));
  }

  stop(): void {
    this.#offSignal?.();
    this.#crashes.stop();
  }

  /** True when the trace of a root that has ended is wanted. */
  ended(trace: ActiveTrace, root: EndedRoot): boolean {
    const reason = this.#reasonOf(trace, root);
    if (reason === undefined) return false;
    this.#soon(reason);
    return true;
  }

  /** What came to the timeline since the last look. A stretch that went on then is there once more. */
  looked(rows: readonly TimelineRow[]): void {
    const { stallMs } = this.#options;
    if (stallMs === undefined) return;
    let longest = 0;
    const from = this.#stalledUs;
    for (const { kind, startUs, endUs } of rows) {
      if (kind !== 'busy' || startUs < from || endUs - startUs < stallMs * 1000) continue;
      longest = Math.max(longest, endUs - startUs);
      this.#stalledUs = Math.max(this.#stalledUs, endUs);
    }
    if (longest === 0) return;
    const ms = (longest / 1000).toFixed(0);
    this.#soon({ kind: 'stall', text: `the event loop was busy for ${ms} ms`, traceId: '' });
  }

  /** `isLast`: nobody takes it, and the process ends when this returns, perhaps without an event `exit`. */
  crashed(reason: SnapshotReason, isLast: boolean): void {
    if (isLast) {
      this.#endWith(reason);
      return;
    }
    if (!this.#isTooSoon()) {
      this.#toFile(reason);
      return;
    }
    // The application may still end the process of it, in this very turn.
    this.#unwritten = reason;
    timers.setImmediate(() => {
      this.#unwritten = undefined;
    });
  }

  /** The process exits with this code, which is not 0. */
  exiting(code: number): void {
    this.#endWith(this.#unwritten ?? { kind: 'exit-code', text: `exit code ${code}`, traceId: '' });
  }

  #reasonOf(trace: ActiveTrace, { name: given, begin, endTicks }: EndedRoot): SnapshotReason | undefined {
    const name = plainName(given);
    const { slowMs, timesUsual, error } = this.#options;
    const ns = (endTicks - begin) * nsPerTick();
    const usual = timesUsual === undefined ? undefined : this.usual.add(name, ns);
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

  // Spans that end in the same turn of the event loop belong into it.
  #soon(reason: SnapshotReason): void {
    if (this.#directory === undefined || this.#isTooSoon()) return;
    this.#isWaiting = true;
    timers.setImmediate(() => {
      this.#isWaiting = false;
      this.#toFile(reason);
    });
  }

  /** Counts it when it is. */
  #isTooSoon(): boolean {
    if (!this.#isWaiting && this.#writes.isIdle && timers.monotonicMs() >= this.#nextMs) return false;
    this.skipped++;
    return true;
  }

  /** For callers that do not wait for an interval: only for what is in flight. */
  #now(reason: SnapshotReason, isLast: boolean): undefined {
    if (isLast) this.#atOnce(reason);
    else if (this.#writes.isIdle) this.#toFile(reason);
    else this.skipped++;
  }

  /** The process ends: of one crash there is one file. */
  #endWith(reason: SnapshotReason): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    // Somebody may have kept it alive all the same.
    timers.setImmediate(() => {
      this.#hasEnded = false;
    });
    const isThere = this.#inFlight !== undefined && isOfOneCrash(this.#inFlight, reason);
    this.#writes.finish();
    if (!isThere) this.#atOnce(reason);
  }

  #atOnce(reason: SnapshotReason): void {
    const directory = this.#directory as SnapshotDirectory;
    try {
      writeSnapshotFileSync(this.#take(reason), directory.pathFor(reason.kind));
      this.written++;
    } catch {
      this.failed++;
    }
    directory.removeOld();
  }

  #toFile(reason: SnapshotReason): void {
    const directory = this.#directory as SnapshotDirectory;
    const { minIntervalMs } = this.#options;
    const begun = timers.monotonicMs();
    this.#nextMs = begun + minIntervalMs;
    this.#inFlight = reason;
    const write = async (): Promise<void> => {
      try {
        await this.#writes.write(this.#take(reason), directory.pathFor(reason.kind));
        this.written++;
      } catch {
        this.failed++;
        this.#nextMs = begun + Math.min(minIntervalMs, RETRY_MS);
      }
      this.#inFlight = undefined;
      directory.removeOld();
    };
    void write();
  }
}
