// Subject: spanline, what its own spans cost a query, in percent of CPU time. One process runs both sides in turns, or the difference
// would drown in the machine's noise. `untraced`: nobody traces, against the same engine and table built without spans. `traced`: inside
// a recording root, collection included, against untraced.
import * as instrumented from '../../dist/bench/tracedb.js';
import * as bare from '../../dist/bench/tracedb-without-spans.js';
import { textOf } from './queries.mjs';
import { TILE } from './shape.mjs';
import { storePath } from './store.mjs';
import { check, cpuSeconds, queries, TRACES } from './support.mjs';

const { flush, openTable, PERF_SCHEMA, PerfStore, Span, SpanContext, setReporter } = instrumented;
const PAIRS = 5;
/** A side runs its query so often that it takes about so long: a short one alone would be all noise. */
const SIDE_SECONDS = 0.05;

let opened;
const stores = () => {
  opened ??= (async () => {
    setReporter({ name: 'noop', keepsNoTrace: true, report() {} });
    const path = storePath(TRACES);
    return {
      perf: await PerfStore.open(await openTable(path, PERF_SCHEMA)),
      without: await bare.PerfStore.open(await bare.LmdbTable.open(path, PERF_SCHEMA)),
    };
  })();
  return opened;
};

const count = async (perf, query) => {
  let found = 0;
  for await (const ids of perf.queryIds(TILE, query)) found += ids.length;
  return found;
};

const cpuOf = async (body) => {
  const before = cpuSeconds();
  await body();
  return cpuSeconds() - before;
};

const overheadCase = (kind, [name, conditions]) => {
  const query = textOf(conditions);
  let repeats = 1;
  const checked = async (perf) => {
    for (let i = 0; i < repeats; i++) check(name, await count(perf, query));
  };
  const traced = async (perf) => {
    for (let i = 0; i < repeats; i++) {
      const root = Span.root('bench', SpanContext.random());
      await root.run(async () => check(name, await count(perf, query)));
      root.end();
    }
    await flush();
  };
  const sides = async () => {
    const { perf, without } = await stores();
    if (kind === 'traced') return [() => traced(perf), () => checked(perf)];
    return [() => checked(perf), () => checked(without)];
  };
  let isWarm = false;
  const measure = async ({ warmUpMs }) => {
    const [more, less] = await sides();
    for (const end = performance.now() + warmUpMs; !isWarm; isWarm = performance.now() > end) {
      await more();
      repeats = Math.ceil((SIDE_SECONDS * repeats) / (await cpuOf(less)));
    }
    const caller = [];
    for (let pair = 0; pair < PAIRS; pair++) {
      // Who goes first pays for the caches that the other one finds warm.
      const first = pair % 2 === 0;
      const a = await cpuOf(first ? more : less);
      const b = await cpuOf(first ? less : more);
      caller.push((first ? a / b - 1 : b / a - 1) * 100);
    }
    return { caller, total: null };
  };
  return { name: `query-${kind}-overhead`, n: name, unit: '%', note: query, opsPerRun: 1, measure };
};

export const subject = 'spanline';
export const cases = ['untraced', 'traced'].flatMap((kind) =>
  queries.filter(([name]) => !name.endsWith('-rare')).map((query) => overheadCase(kind, query)),
);
