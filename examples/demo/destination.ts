// Where the traces go: to Jaeger when JAEGER_ENDPOINT names one or localhost:4318 answers, else to files in .tmp.
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Reporter } from 'spanline';
import { FileReporter } from 'spanline/exporters/file';
import { JaegerReporter } from 'spanline/exporters/jaeger';

const LOCAL = 'http://localhost:4318';

/** Reporters, and what to tell the user. */
export interface Destination {
  readonly reporters: readonly Reporter[];
  readonly lines: readonly string[];
}

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
  const endpoint = process.env.JAEGER_ENDPOINT ?? ((await answers(4318)) ? LOCAL : undefined);
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
