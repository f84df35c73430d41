// npm run demo: a small query service over a real benchmark history in a Perf store, every query traced down to the reads of
// the table, and what that costs.
import { mkdir, rm } from 'node:fs/promises';
import { clockInfo, configure, setReporter, shutdown } from 'spanline';
import { renderTrace } from 'spanline/exporters/console';
import { MemoryReporter } from 'spanline/exporters/memory';
import { Benchmarks } from './benchmarks.js';
import { makeQueries, runQueries } from './client.js';
import { command, typed } from './command.js';
import { type Cost, measureCost } from './cost.js';
import { chooseDestination, failures, lostSpans } from './destination.js';
import { startService } from './service.js';

const SOURCE = 'examples/data/otel-js-benchmarks.jsonl.gz';
const FOLDER = '.tmp/demo';
const STORE = `${FOLDER}/perf`;
const QUERIES = 200;
// Changes listed: the largest ones.
const MIN_EFFECT = '25%';

const say = (...lines: string[]): void => {
  for (const line of lines) console.log(line);
};

const heading = (text: string): void => say('', text, '-'.repeat(text.length));

const percent = (traced: number, untraced: number): string => `${((traced / untraced - 1) * 100).toFixed(1)} %`;

const showCost = ({ traced, untraced, noisePercent, rounds }: Cost): void => {
  heading(
    `What tracing costs (${rounds} rounds of ${QUERIES} queries each way, taking turns; medians; spans only counted)`,
  );
  const row = (name: string, a: number, b: number): string =>
    `${name.padEnd(28)} ${a.toFixed(1).padStart(10)} ${b.toFixed(1).padStart(10)} ${percent(a, b).padStart(10)}`;
  say(`${''.padEnd(28)} ${'traced'.padStart(10)} ${'untraced'.padStart(10)} ${'cost in %'.padStart(10)}`);
  say(row('time of a round, ms', traced.wallMs, untraced.wallMs));
  say(row('CPU of the process, ms', traced.cpuMs, untraced.cpuMs));
  say(`noise: untraced rounds differ by ${noisePercent.toFixed(1)} % (p75 - p25 of the median)`);
};

const showTraces = (memory: MemoryReporter): void => {
  // The client's span is the root; the service's spans are a part of the same trace that was reported with it.
  const spans = memory.spans;
  const slowest = spans
    .filter((span) => span.kind === 'server')
    .reduce((worst, span) => (span.durationNs > worst.durationNs ? span : worst));
  const one = spans.find((span) => span.kind === 'server' && span.name === 'GET /join') ?? slowest;
  const ofTrace = (traceId: string) => spans.filter((span) => span.traceId === traceId);
  heading('One trace');
  say(
    renderTrace(ofTrace(one.traceId), { colors: process.stdout.isTTY === true && !process.env.NO_COLOR, maxSpans: 40 }),
  );
  heading('The slowest query');
  say(
    `${slowest.name}${String(slowest.properties['url.query'])}: ${(slowest.durationNs / 1e6).toFixed(2)} ms, ` +
      `${ofTrace(slowest.traceId).length} spans, trace ${slowest.traceId}`,
  );
};

const showStore = async (): Promise<void> => {
  heading('One query explained');
  const explain = ['perf', 'query', '--store', STORE, 'test=~span&unit=ops_sec', '--explain'];
  say(typed(explain), await command(explain));
  heading('What changed in three years');
  const regressions = ['perf', 'regressions', '--store', STORE, '--min-effect', MIN_EFFECT, '--plot'];
  say(typed(regressions), await command(regressions));
};

const main = async (): Promise<void> => {
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true });
  configure({ serviceName: 'benchmark-history' });
  const { source, path } = clockInfo();

  const benchmarks = await Benchmarks.load(SOURCE, STORE);
  const { entries, points, milliseconds } = benchmarks.loaded;
  say(
    `ingested ${entries} commits, ${points} points of the OpenTelemetry JS benchmarks into ${STORE} (LMDB) in ${milliseconds.toFixed(0)} ms`,
    `clock: ${source} by ${path}`,
  );
  const { server, port } = await startService(benchmarks);
  const queries = makeQueries(benchmarks.tests, benchmarks.commitCount, QUERIES);

  const memory = new MemoryReporter({ maxSpans: 1_000_000 });
  const destination = await chooseDestination(FOLDER);
  setReporter([memory, ...destination.reporters]);
  await runQueries(port, queries);
  await shutdown();
  say(`answered ${QUERIES} queries over HTTP, ${memory.spans.length} spans recorded`);
  showTraces(memory);
  heading('Where the traces went');
  const failed = failures();
  if (failed.length > 0) {
    say(...failed, 'is a Jaeger listening there? Without JAEGER_ENDPOINT the traces go to files');
    process.exitCode = 1;
  } else say(...destination.lines, `${lostSpans()} spans lost on the way`);

  await showStore();

  const counted = { spans: 0 };
  setReporter({
    name: 'counter',
    report({ spanCount }) {
      counted.spans += spanCount;
    },
  });
  const lostBefore = lostSpans();
  showCost(await measureCost(() => runQueries(port, queries)));
  await shutdown();
  say(`${counted.spans} spans in the traced rounds; dropped: ${lostSpans() - lostBefore}`);

  server.close();
  server.closeAllConnections();
  await benchmarks.close();
};

await main();
