// Where the traces go: to Jaeger when JAEGER_ENDPOINT names one or localhost:4318 answers, else to files in .tmp. Must not
// call sent what nobody took.
import { connect } from 'node:net';
import { join } from 'node:path';
import { type Reporter, type Stats, stats } from 'spanline';
import { FileReporter } from 'spanline/exporters/file';
import { JaegerReporter } from 'spanline/exporters/jaeger';

const LOCAL = 'http://localhost:4318';

/** Reporters, and what to tell the user. */
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

export const chooseDestination = async (folder: string): Promise<Destination> => {
  const endpoint = process.env.JAEGER_ENDPOINT || ((await answers(4318)) ? LOCAL : undefined);
  if (endpoint !== undefined) {
    return {
      reporters: [new JaegerReporter({ endpoint })],
      lines: [
        `sent to Jaeger at ${endpoint}`,
        'look at them in Jaeger\'s UI (port 16686), service "benchmark-history"',
      ],
    };
  }
  const lines = join(folder, 'traces.jsonl');
  const upload = join(folder, 'traces.jaeger.json');
  return {
    reporters: [
      new FileReporter({ path: lines }),
      new FileReporter({ path: upload, format: 'jaeger-json', maxTraces: 200 }),
    ],
    lines: [
      `${lines}  (OTLP/JSON, one request a line)`,
      `${upload}  (the last 200 traces: Jaeger UI, Search, "Upload")`,
      'to send them to Jaeger instead: run Jaeger 2 (ports 4318 and 16686) on this machine, then npm run demo again,',
      'or set JAEGER_ENDPOINT=http://host:4318',
    ],
  };
};
