// `spanline bench overhead`: what tracing costs a service, before it is switched on. Both services and the sink must be gone when it ends.

import { BenchError } from '@spanline/tracedb/bench-history';
import { type Command, InvalidArgumentError } from 'commander';
import { type Commands, command, options, type Values } from '../../command.js';
import { ExitCode, endWith, interruptible, wrongUsage } from '../../exit-code.js';
import { duration, share, wholeNumber } from '../../options.js';
import { columns, digits, note, Progress, printAnswer } from '../../output.js';
import { registerUrl, withPreload } from '../../run-program.js';
import { type Cost, costsOf, isCpuOver, type Load, type LoadRound, loadRound, type OverheadRound } from './load.js';
import { Service, type Sink, startSink } from './service.js';

/** Fewer leave no interval. */
const MIN_ROUNDS = 3;
const MAX_ROUNDS = 100;

const path = (text: string): string => {
  if (text.startsWith('/')) return text;
  throw new InvalidArgumentError(
    'write a path such as /api/items?page=2; the port is that on which the service listens.',
  );
};

const header = (text: string, before: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
  const at = text.indexOf(':');
  if (at > 0) return { ...before, [text.slice(0, at).trim()]: text.slice(at + 1).trim() };
  throw new InvalidArgumentError('write a header such as "authorization: Bearer abc".');
};

const OVERHEAD = options({
  url: ['--url <path>', 'what is asked of it; may also end the line', path, '/'],
  connections: ['--connections <number>', 'each asks again as soon as it is answered', wholeNumber(1, 1000), 10],
  header: [
    '--header <header>',
    'a header of every request, such as "authorization: Bearer abc"; may be given again',
    header,
    {},
  ],
  round: ['--round <time>', 'one load of one service', duration, 2000, '2s'],
  budget: ['--budget <time>', 'longest that rounds may take; three are made at least', duration, 90_000, '90s'],
  maxCpu: ['--max-cpu <share>', 'exit code 1 where CPU a request grows by more than this, beyond chance', share],
  json: ['--json', 'print JSON, with all rounds'],
});

type OverheadOptions = Values<typeof OVERHEAD>;

/** Where traces go: to wherever the environment says, else to a sink. */
const exporterIsGiven = (): boolean =>
  [
    'OTEL_TRACES_EXPORTER',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    'SPANLINE_ARCHIVE',
  ].some((name) => process.env[name]);

/** `-- node server.js --url /api`: the url at the end of a command is ours where none was given before `--`. */
const urlAtEnd = (words: readonly string[]): readonly [readonly string[], string | undefined] => {
  const [option, url = ''] = words.slice(-2);
  return words.length > 2 && option === '--url' && url.startsWith('/') ? [words.slice(0, -2), url] : [words, undefined];
};

/** What would be measured against itself, or not told. */
const requireComparable = ({ maxCpu }: OverheadOptions): void => {
  if (/spanline\/register|register\/preload\.js/.test(process.env.NODE_OPTIONS ?? '')) {
    throw wrongUsage(
      'NODE_OPTIONS loads spanline into every process, the untraced one too; take it out of NODE_OPTIONS',
    );
  }
  if (maxCpu !== undefined && process.platform !== 'linux') {
    throw wrongUsage('--max-cpu needs the CPU time of other processes, which only Linux reports; leave it out');
  }
};

type Side = keyof OverheadRound;

const measure = async (
  services: Readonly<Record<Side, Service>>,
  load: Load,
  budgetMs: number,
  signal: AbortSignal,
): Promise<readonly OverheadRound[]> => {
  using progress = new Progress();
  const { default: autocannon } = await import('autocannon');
  const once = (side: Side): Promise<LoadRound> => loadRound(autocannon, services[side], load, signal);
  progress.show('the first load of each, which is not counted');
  await once('untraced');
  await once('traced');
  const rounds: OverheadRound[] = [];
  const start = performance.now();
  const spent = (): number => performance.now() - start;
  while (rounds.length < MIN_ROUNDS || (rounds.length < MAX_ROUNDS && spent() * (1 + 1 / rounds.length) <= budgetMs)) {
    progress.show(`round ${rounds.length + 1}, ${Math.round(spent() / 1000)} of ${Math.round(budgetMs / 1000)} s`);
    if (rounds.length % 2 === 0) {
      const untraced = await once('untraced');
      rounds.push({ untraced, traced: await once('traced') });
    } else {
      const traced = await once('traced');
      rounds.push({ untraced: await once('untraced'), traced });
    }
  }
  return rounds;
};

const overhead = async (
  command: readonly string[],
  given: OverheadOptions,
  signal: AbortSignal,
): Promise<readonly OverheadRound[]> => {
  const { url, connections, header: headers, round, budget } = given;
  const running: Service[] = [];
  let sink: Sink | undefined;
  const start = async (env: NodeJS.ProcessEnv): Promise<Service> => {
    const service = await Service.start(command, env, signal);
    running.push(service);
    return service;
  };
  try {
    if (!exporterIsGiven()) sink = await startSink();
    const variables = sink === undefined ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: sink.endpoint };
    const untraced = await start(process.env);
    const traced = await start(withPreload(registerUrl(), variables));
    const load = { path: url, connections, seconds: round / 1000, headers };
    const rounds = await measure({ untraced, traced }, load, budget, signal);
    if ((await sink?.bytes()) === 0)
      note('not one trace was sent: nothing of this service is traced, so it costs next to nothing');
    return rounds;
  } finally {
    await Promise.all(running.map((service) => service.stop()));
    sink?.stop();
  }
};

const signed = (value: number): string => `${value >= 0 ? '+' : ''}${digits(value, 3)}`;
const percent = (value: number): string => signed(Number((value * 100).toFixed(1)));

const row = ({ name, unit, untraced, traced, added, change }: Cost): string[] => [
  name,
  `${digits(untraced, 3)} ${unit}`,
  `${digits(traced, 3)} ${unit}`,
  `${signed(added.estimate)} ${unit} (${signed(added.low)} to ${signed(added.high)})`,
  `${percent(change.estimate)} % (${percent(change.low)} to ${percent(change.high)})`,
];

export const commands = {
  overhead: command({
    words: [['<command...>', 'service and its arguments, after --']],
    what: 'what tracing costs a service: CPU a request, throughput, p99, each with its interval',
    options: OVERHEAD,
    help: `
The service is started twice, untraced and with spanline/register, each with a free port in PORT, and both are loaded by turns, by autocannon.
Traces go where OpenTelemetry's environment variables say; where they say nothing, over OTLP to a process that takes and forgets them.

Examples:
  $ spanline bench overhead --url /api/items -- node server.js
  $ spanline bench overhead -- node server.js --url /api/items
  $ spanline bench overhead --max-cpu 10% --budget 3m -- npm start
  $ OTEL_TRACES_SAMPLER_ARG=0.1 OTEL_TRACES_SAMPLER=traceidratio spanline bench overhead -- node server.js

Exit codes: 0 done, 1 CPU grows by more than --max-cpu, 2 wrong usage, 3 the service or the load failed.`,
    run: async (given, words: string[], self: Command) => {
      requireComparable(given);
      const [command, atEnd] = self.getOptionValueSource('url') === 'default' ? urlAtEnd(words) : [words, undefined];
      const options = atEnd === undefined ? given : { ...given, url: atEnd };
      if (atEnd !== undefined)
        note(`--url ${atEnd} is what is asked; give a --url before -- to leave this one to the service`);
      const rounds = await interruptible((signal) => overhead(command, options, signal), '; the services are gone');
      const costs = costsOf(rounds);
      const table = columns(['', 'untraced', 'traced', 'tracing adds', 'which is'], costs.map(row), 'lrrrr');
      const text = `${table}${rounds.length} rounds of either by turns; intervals of 95 %${rounds.length < 6 ? ' need 6 rounds: these are all that was seen' : ''}\n`;
      printAnswer(options.json, { costs, rounds }, text);
      const isOver = isCpuOver(rounds, options.maxCpu ?? Number.POSITIVE_INFINITY);
      if (typeof isOver === 'boolean') {
        if (isOver) endWith(ExitCode.findings);
        return;
      }
      // What is unknown must not pass.
      if (options.maxCpu !== undefined) throw new BenchError('ERR_SPANLINE_BENCH_COMMAND', isOver);
      note(isOver);
    },
  }),
} satisfies Commands;
