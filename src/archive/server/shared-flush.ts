// One flush for all requests that wait for one: a disk syncs once for many. None is answered by a flush that began before its spans were
// appended.
import type { ArchiveWriter } from './ports.js';

/** One flush runs at a time, and at most one more is due. */
export class SharedFlush {
  private running: Promise<void> = Promise.resolve();
  private due: Promise<void> | undefined;

  constructor(private readonly archive: Pick<ArchiveWriter, 'flush'>) {}

  /** What was appended before this call is on the disk. */
  wait(): Promise<void> {
    this.due ??= this.afterRunning();
    return this.due;
  }

  private async afterRunning(): Promise<void> {
    // Those who waited for it were told.
    await this.running.catch(() => undefined);
    this.due = undefined;
    this.running = this.archive.flush();
    return this.running;
  }
}
