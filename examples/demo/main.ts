// npm run demo: a small query service over a real benchmark history in a Perf store, traced from outside (spanline/register) down to the reads
// of the table, what that costs, and which query used the CPU.
import { mkdir, rm } from 'node:fs/promises';
import { Archive } from '@spanline/archive';
import { clockInfo, setReporter, shutdown, stats } from 'spanline';
import { Benchmarks } from './benchmarks.js';
import { KINDS, makeQueries, runQueries } from './client.js';
import { command, typed } from './command.js';
import { type Added, type Costs, measureCost } from './cost.js';
import { profileWork, type Sampled, withCpuTime } from './cpu-profile.js';
import { chooseDestination, failures, lostSpans } from './destination.js';
import { watchShapes } from './golden.js';
import { TimelineWriter } from './keep-timeline.js';
import { showPage } from './page.js';
import { startService } from './service.js';
import { plantSlowRequest } from './slow-request.js';

const SOURCE = 'examples/data/otel-js-benchmarks.jsonl.gz';
const FOLDER = '.tmp/demo';
const STORE = `${FOLDER}/perf`;
const TRACES = `${FOLDER}/traces`;
const PROFILES = `${FOLDER}/profiles`;
const PROFILE = `${PROFILES}/cpu.pb.gz`;
const GOLD = `${FOLDER}/gold`;
const QUERIES = 200;
const DRAWN_SPANS = '60';
// Changes listed: the largest ones.
const MIN_EFFECT = '25%';

const say = (...lines: string[]): void => {
  for (const line of lines) console.log(line);
};

const heading = (text: string): void => say('', text, '-'.repeat(text.length));

const shown = ({ percent, from, to }: Added): string =>
  `${percent.toFixed(1)} % (${from.toFixed(1)} to ${to.toFixed(1)})`.padStart(26);

const showCosts = ({ wallMs, cpuMs, all, oneInTen, rounds }: Costs): void => {
  heading(
    `What tracing costs (${rounds} rounds of ${QUERIES} queries each way after a warm-up, taking turns; spans only counted)`,
  );
  const row = (name: string, ms: number, what: 'wall' | 'cpu'): string =>
    `${name.padEnd(22)} ${ms.toFixed(1).padStart(10)} ${shown(oneInTen[what])} ${shown(all[what])}`;
  say(
    `${'of a round'.padEnd(22)} ${'untraced'.padStart(10)} ${'1 in 10 traced'.padStart(26)} ${'all traced'.padStart(26)}`,
    row('time, ms', wallMs, 'wall'),
    row('CPU of the process, ms', cpuMs, 'cpu'),
    'added to the untraced round next to it: median, and its 95 % interval',
  );
};

/** The slowest trace of the archive as a waterfall; the command opens the archive for itself. */
const showSlowest = async (): Promise<void> => {
  const archive = await Archive.open(TRACES, { readOnly: true });
  const found = await archive.search({ limit: QUERIES });
  await archive.close();
  const { traceId } = found.reduce((worst, trace) => (trace.durationNs > worst.durationNs ? trace : worst));
  heading('The slowest query, from the archive');
  const show = ['trace', 'show', '--archive', TRACES, traceId, '--limit', DRAWN_SPANS];
  say(typed(show), await command(show));
};

const showStore = async (): Promise<void> => {
  heading('One query explained');
  const explain = ['perf', 'query', '--store', STORE, 'test=~span&unit=ops_sec', '--explain'];
  say(typed(explain), await command(explain));
  heading('What changed in three years');
  const regressions = ['perf', 'regressions', '--store', STORE, '--min-effect', MIN_EFFECT, '--plot'];
  say(typed(regressions), await command(regressions));
};

const showCpu = async ({ samples, carrier }: Sampled): Promise<void> => {
  heading('CPU by query');
  const top = ['profile', 'top', PROFILE, '--by', 'query'];
  say(typed(top), await command(top));
  const speedscope = `${FOLDER}/cpu.speedscope.json`;
  const devTools = `${FOLDER}/cpu.cpuprofile`;
  say(
    `${PROFILE}  (${samples} samples, labelled by ${carrier}; (none) is the client and the server around the queries)`,
    `$ go tool pprof -http=: -tagroot=query ${PROFILE}`,
    `${typed(['profile', 'export', PROFILE, '--format', 'speedscope', '--by', 'query', '-o', speedscope])}   (for speedscope.app)`,
    `${typed(['profile', 'export', PROFILE, '--format', 'cpuprofile', '-o', devTools])}   (for DevTools and VS Code)`,
  );
};

const main = async (): Promise<void> => {
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(PROFILES, { recursive: true });
  const { source, path } = clockInfo();
  const { context } = stats();

  const benchmarks = await Benchmarks.load(SOURCE, STORE);
  const { entries, points, milliseconds } = benchmarks.loaded;
  say(
    `ingested ${entries} commits, ${points} points of the OpenTelemetry JS benchmarks into ${STORE} (LMDB) in ${milliseconds.toFixed(0)} ms`,
    `clock: ${source} by ${path}; context: ${context.way === 'frames' ? 'own frames' : `AsyncLocalStorage (${context.reason})`}; Node ${process.versions.node}`,
  );
  const { server, port } = await startService(benchmarks);
  const queries = makeQueries(benchmarks.tests, benchmarks.commitCount, QUERIES);
  const oneOfEach = queries.slice(0, KINDS);

  const archive = await Archive.open(TRACES);
  const timeline = new TimelineWriter(archive);
  const destination = await chooseDestination(archive);
  const reporters = withCpuTime(destination.reporters);
  setReporter([...reporters, timeline]);
  const sampled = await profileWork(() => runQueries(port, queries), reporters, PROFILE);
  const slow = await plantSlowRequest(port, benchmarks.tests[0]);
  await shutdown();
  timeline.stop();
  const { appendedSpans } = await archive.stats();
  await archive.close();
  say(`answered ${QUERIES} queries over HTTP, ${appendedSpans} spans recorded`);
  heading('Where the traces went');
  const failed = failures();
  say(`${TRACES}  (an archive: compact files, searched without a server)`);
  say(...(failed.length > 0 ? failed : destination.lines), `${lostSpans()} spans lost on the way`);
  if (failed.length > 0) process.exitCode = 1;
  await showSlowest();
  heading('Look around');
  say(
    typed(['trace', 'search', '--archive', TRACES, '--min', '10ms']),
    `${typed(['serve', '--archive', TRACES])}   (a Jaeger API for its UI and Grafana, OTLP to send more to it)`,
  );

  await showStore();

  heading('One request was slow: whom did it wait for?');
  say(
    `${slow.name}: ${slow.text}`,
    `it waited for ${slow.waitedFor}  (what to do with a service of yours: docs/flight-recorder.md)`,
    typed(['stalls', '--archive', TRACES]),
  );

  heading('One query asks more often than it did: golden shapes');
  const careless = oneOfEach.map((path) => (path.startsWith('/compare') ? `${path}&careless` : path));
  say(...(await watchShapes(port, GOLD, oneOfEach, careless)), typed(['gold', 'search', '--store', GOLD]));

  const counted = { spans: 0 };
  setReporter({
    name: 'counter',
    // As those that send or keep spans: their rows are used again.
    keepsNoTrace: true,
    report({ spanCount }) {
      counted.spans += spanCount;
    },
  });
  const lostBefore = lostSpans();
  showCosts(await measureCost(() => runQueries(port, queries)));
  await shutdown();
  say(`${counted.spans} spans in the traced rounds; dropped: ${lostSpans() - lostBefore}`);
  await showCpu(sampled);

  heading('Look at it');
  const page = ['ui', '--archive', TRACES, '--store', STORE, '--gold-store', GOLD, '--profiles', PROFILES];
  say(typed(page));
  if (process.argv.includes('--ui')) await showPage(page, TRACES, port, queries);
  server.close();
  server.closeAllConnections();
  await benchmarks.close();
};

await main();
