// Sees what ends a process, and what would if the application did not take it: uncaught exceptions, unhandled rejections, exit codes. It must
// change nothing of that, so it never listens to `uncaughtException` or `unhandledRejection`: a listener keeps the process alive.
import { timers } from '../base/calls/timers.js';
import type { SnapshotReason } from './snapshot-types.js';

/** The listener. No method may throw. */
export interface CrashListener {
  /** `isLast`: nobody takes it, and the process ends when this returns, perhaps without an event `exit`. */
  crashed(reason: SnapshotReason, isLast: boolean): void;
  /** The process exits with this code, which is not 0. */
  exiting(code: number): void;
}

type Emit = (this: unknown, event: string | symbol, ...args: unknown[]) => boolean;

const textOf = (error: unknown): string => {
  try {
    return String(error).slice(0, 512);
  } catch {
    return 'an error that cannot be shown';
  }
};

const reasonOf = (error: unknown, origin: string): SnapshotReason => {
  const kind = origin === 'unhandledRejection' ? 'unhandled-rejection' : 'uncaught-exception';
  return { kind, text: textOf(error), traceId: '' };
};

/** Whether somebody takes an exception that nothing has caught. */
const isTaken = (): boolean =>
  process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback();

export class CrashWatch {
  readonly #to: CrashListener;
  readonly #offs: (() => void)[] = [];
  // Rejections that nobody took, of which no exception has come.
  #rejected: SnapshotReason | undefined;

  constructor(to: CrashListener) {
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
