// Brings what an archive in a bucket holds there before the process ends, when its event loop runs empty and on signals: else it waits in the spool for the
// next process that has it. It must hold an end back for a bounded time only, never end in a circle of further ends, and never throw.
import { within } from '../base/calls/timers.js';
import type { Collector } from '../collector/collector.js';
import { onSignal } from '../collector/signal-work.js';

/** What is asked of an archive. */
export interface SealedArchive {
  seal(): Promise<void>;
}

/** `archivedSpans` counts what was handed to the archive. */
export const sealAtEnd = (archive: SealedArchive, archivedSpans: () => number, collector: Collector): void => {
  let sealed = 0;
  const seal = async (): Promise<void> => {
    sealed = archivedSpans();
    // What does not get there is in the spool, and counted.
    await within(
      collector.exitTimeoutMs,
      archive.seal().catch(() => {}),
    );
  };
  // Emitted again when the loop is empty again: after the collector's flush, and after this.
  process.on('beforeExit', () => {
    if (archivedSpans() !== sealed) void seal();
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    onSignal(
      signal,
      async () => {
        await collector.flush({ timeoutMs: collector.exitTimeoutMs });
        await seal();
      },
      true,
    );
};
