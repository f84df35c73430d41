// The client: asks the service, one trace a query. The requests below it, and the headers that carry its context, are the instrumentation's.
import { Agent, get } from 'node:http';
import { Span } from 'spanline';

/** Kinds of queries, which come by turns. */
export const KINDS = 5;

/** The same queries at every run, so that rounds can be compared. */
export const makeQueries = (tests: readonly string[], commits: number, count: number): string[] =>
  Array.from({ length: count }, (_, i) => {
    const test = encodeURIComponent(tests[i % tests.length]);
    const other = encodeURIComponent(tests[(i * 7 + 3) % tests.length]);
    const kinds = [
      `/statistics?test=${test}`,
      `/join?test=${test}&with=${other}`,
      `/drops?test=${test}`,
      `/range?test=${test}&from=${i}&to=${i + 50}`,
      `/compare?before=${(i * 31) % commits}&after=${commits - 1}`,
    ];
    return kinds[i % KINDS];
  });

/** The name of the trace of a query. */
export const queryName = (path: string): string => `query ${path.split('?')[0].slice(1)}`;

const fetchText = (port: number, path: string, agent: Agent): Promise<number> =>
  new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('end', () =>
        response.statusCode === 200 ? resolve(bytes) : reject(new Error(`${path}: ${response.statusCode}`)),
      );
    }).on('error', reject);
  });

/** Send the queries, two at a time; each query's time in milliseconds. */
export const runQueries = async (port: number, paths: readonly string[]): Promise<number[]> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 2 });
  const times: number[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < paths.length; i = next++) {
      const begin = performance.now();
      const span = Span.root(queryName(paths[i]));
      try {
        span.addProperty('bytes', await span.run(() => fetchText(port, paths[i], agent)));
      } catch (error) {
        span.setStatus('error', String(error));
        throw error;
      } finally {
        span.end();
      }
      times[i] = performance.now() - begin;
    }
  };
  await Promise.all([worker(), worker()]);
  agent.destroy();
  return times;
};
