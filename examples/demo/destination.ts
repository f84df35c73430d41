// Where the traces go: to an archive, and to Jaeger too when JAEGER_ENDPOINT names one or localhost:4318 answers. Must not call sent what
// nobody took.
import { connect } from 'node:net';
import { type Archive, ArchiveReporter } from '@spanline/archive';
import { type Reporter, type Stats, stats } from 'spanline';
import { JaegerReporter } from 'spanline/exporters/jaeger';

const LOCAL = 'http://localhost:4318';

/** Reporters, and what to tell the user when nothing failed. */
export interface Destination {
  readonly reporters: readonly Reporter[];
  readonly lines: readonly string[];
}

type ReporterStats = Stats['collector']['reporters'][string];

// A batch refused as a whole is in both counts of refusals, one refused in part only in that of the reporter.
const lostBy = ({ own, ...counted }: ReporterStats): number =>
  counted.droppedSpansQueueFull +
  counted.droppedSpansAtShutdown +
  Math.max(counted.droppedSpansRefused, own?.refusedSpans ?? 0) +
  (own?.rejectedSpans ?? 0) +
  (own?.spansTooLarge ?? 0) +
  (own?.spansInvalid ?? 0);

/** Spans recorded and lost, for any reason: by a bound, with their trace, or on the way to a reporter. */
export const lostSpans = (): number => {
  const { localSpansOverCap, spansOverTraceCap, spansOfDiscardedTraces, collector } = stats();
  return (
    localSpansOverCap +
    spansOverTraceCap +
    spansOfDiscardedTraces +
    collector.droppedSpansBeforeReporter +
    collector.droppedSpansAfterShutdown +
    Object.values(collector.reporters).reduce((sum, reporter) => sum + lostBy(reporter), 0)
  );
};

/** Why traces did not arrive, after `shutdown()`; empty when all did. */
export const failures = (): string[] =>
  Object.entries(stats().collector.reporters)
    .filter(([, { lastError, reportedSpans }]) => lastError !== undefined && reportedSpans === 0)
    .map(([name, { lastError }]) => `NOTHING ARRIVED (${name}): ${lastError}`);

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: 'localhost', port, timeout: 500 });
    const settle = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('connect', () => settle(true));
    socket.once('timeout', () => settle(false));
    socket.once('error', () => settle(false));
  });

export const chooseDestination = async (archive: Archive): Promise<Destination> => {
  const kept = new ArchiveReporter(archive);
  const endpoint = process.env.JAEGER_ENDPOINT || ((await answers(4318)) ? LOCAL : undefined);
  if (endpoint === undefined) return { reporters: [kept], lines: [] };
  return {
    reporters: [kept, new JaegerReporter({ endpoint })],
    lines: [`sent to ${endpoint} too; in the UI of a Jaeger there: service "benchmark-history"`],
  };
};
