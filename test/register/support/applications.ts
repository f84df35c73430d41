// Applications that nobody here wrote run under `spanline/register` as they are: their traces are those under the official instrumentations, none is
// lost under load and at SIGTERM, and they end as they do untraced.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../scripts/lib/local-ports.mjs';
import { startServer } from '../../exporters/support/http-server.js';
import { decodeSpans } from '../../exporters/support/otlp-decode.js';
import { isKnown, isTheirsAlone } from '../comparison/table.js';
import { tracedBy, tracedTo } from './official.js';
import { startService } from './service.js';
import { type Difference, differences, outline, type SpanTree, treesOf, without } from './span-trees.js';

// By its address: scripts have no types.
const { ensureInstalled } = (await import(new URL('../../../scripts/lib/install.mjs', import.meta.url).href)) as {
  ensureInstalled(folder: string, name: string): void;
};

/** An application, and what it is asked. */
export interface Application {
  readonly name: string;
  readonly program: string;
  readonly ready: RegExp;
  env(port: number): Readonly<Record<string, string>>;
  readonly requests: readonly (readonly [path: string, init?: RequestInit])[];
  /** What has another name or another route there, as `GET /path 404`: see docs/instrumentation.md. */
  readonly namedApart?: readonly string[];
  /** Asked for again and again. */
  readonly load: readonly (readonly [path: string, init?: RequestInit])[];
}

/** A request with a body. */
export const json = (method: string, body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

const REQUESTS = 400;
const AT_ONCE = 16;

const folderOf = (name: string): string => fileURLToPath(new URL(`../applications/${name}/`, import.meta.url));

interface Run {
  /** By method and target, in the order of the requests. */
  readonly trees: readonly SpanTree[];
  readonly answered: readonly string[];
  readonly exit: unknown;
  readonly said: string;
}

/** Start `app`, ask for each of its requests and then many times for its load, and end it while the last are just answered. */
const run = async (app: Application, port: number, execArgv: readonly string[]): Promise<Run> => {
  const sink = await startServer();
  const service = await startService(join(folderOf(app.name), 'node_modules', app.program), {
    execArgv,
    env: { ...tracedTo(sink.url), ...app.env(port) },
    ready: app.ready,
  });
  const answered: string[] = [];
  const ask = async ([path, init]: Application['requests'][number]): Promise<void> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, init);
    await answer.arrayBuffer();
    answered.push(`${init?.method ?? 'GET'} ${path} ${answer.status}`);
  };
  try {
    for (const request of app.requests) await ask(request);
    const ofLoad = async (first: number): Promise<void> => {
      for (let i = first; i < REQUESTS; i += AT_ONCE) await ask(app.load[i % app.load.length]);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => ofLoad(i)));
  } finally {
    const exit = await service.stop();
    await sink.close();
    const spans = sink.requests.flatMap(({ body }) => decodeSpans(body));
    // biome-ignore lint/correctness/noUnsafeFinally: a request that failed is not in the list of those answered, which is compared.
    return { trees: treesOf(spans), answered, exit, said: service.said() };
  }
};

const targetOf = ({ attributes }: SpanTree): string => {
  const [method, path, query, status] = [
    'http.request.method',
    'url.path',
    'url.query',
    'http.response.status_code',
  ].map((key) => attributes[key]?.replace(/^int |"/g, '') ?? '');
  return `${method} ${path}${query === '' ? '' : `?${query}`} ${status}`;
};

const requestsOf = ({ trees }: Run): SpanTree[] => trees.filter(({ kind }) => kind === 'server');

/** The traces of the requests that were sent one after another, without spans that are of the official instrumentations alone. */
const oneByOne = (app: Application, run: Run): SpanTree[] =>
  requestsOf(run)
    .slice(0, app.requests.length)
    .map((tree) => without(tree, isTheirsAlone));

/** The tests of one; `startAnew` comes before each start of it. */
export const suite = (app: Application, startAnew: () => void = () => {}): void => {
  let untraced: Run;
  let ours: Run;
  let official: Run;
  beforeAll(async () => {
    ensureInstalled(folderOf(app.name), `the application ${app.name}`);
    // The same addresses for all, for they are compared.
    const port = await freePort();
    const one = (execArgv: readonly string[]): Promise<Run> => {
      startAnew();
      return run(app, port, execArgv);
    };
    untraced = await one([]);
    ours = await one(tracedBy.spanline());
    official = await one(tracedBy.official());
  }, 300_000);

  test('answers as it does untraced, and says nothing more', () => {
    expect(ours.answered.toSorted()).toEqual(untraced.answered.toSorted());
    expect(ours.answered).toHaveLength(app.requests.length + REQUESTS);
    expect(ours.said).not.toContain('spanline:');
  });

  test('has the traces that it has under the official instrumentations', () => {
    const [mine, theirs] = [ours, official].map((run) => oneByOne(app, run));
    const shown = (trees: readonly SpanTree[]): string[] =>
      trees.map((tree) => `${targetOf(tree)}\n${outline(tree, false)}`);
    expect(shown(mine)).toEqual(shown(theirs));
    const isNamedApart = (tree: SpanTree, { field }: Difference): boolean =>
      (field === 'name' || field === 'http.route') && app.namedApart?.includes(targetOf(tree)) === true;
    const found = mine.flatMap((tree, i) => differences(tree, theirs[i]).filter((one) => !isNamedApart(tree, one)));
    expect(found.filter((one) => !isKnown(one))).toEqual([]);
  });

  test('loses none under load and at SIGTERM', () => {
    expect(requestsOf(ours).map(targetOf).sort()).toEqual(ours.answered.toSorted());
  });

  test('ends as it does untraced', () => {
    expect(ours.exit).toEqual(untraced.exit);
  });
};
