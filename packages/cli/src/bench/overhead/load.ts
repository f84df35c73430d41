// Rounds of load on a service, by autocannon, and what tracing costs, of rounds in which it was loaded untraced and traced by turns. Answers that are
// errors must never count: who refuses is quick. Every figure has the interval that the rounds leave open, and must never be printed without it.
import { BenchError } from '@spanline/tracedb/bench-history';
import { medianOf, type Shift, shiftOf } from '@spanline/tracedb/internal';
import { onAbort, sleep } from 'spanline/internal/base';
import type { Service } from './service.js';

/** Latencies of a round that are kept; those of later answers are not looked at. */
const MAX_LATENCIES = 1_000_000;
/** The default of OTEL_BSP_SCHEDULE_DELAY, and the longest that is waited for. */
const SCHEDULE_DELAY_MS = 1000;
const MAX_SCHEDULE_DELAY_MS = 10_000;

/** What a service puts off to when it is idle, such as sending its spans, is not free. */
const settled = (): Promise<void> => {
  const asked = Number(process.env.OTEL_BSP_SCHEDULE_DELAY);
  const delay = asked > 0 ? Math.min(asked, MAX_SCHEDULE_DELAY_MS) : SCHEDULE_DELAY_MS;
  return sleep(delay + 200);
};

/** What is asked of a service. */
export interface Load {
  readonly path: string;
  readonly connections: number;
  readonly seconds: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a round gave. */
export interface LoadRound {
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
  /** Undefined where the system does not tell CPU time. */
  readonly cpuUs?: number;
}

type Autocannon = typeof import('autocannon').default;

/** Loads the service for so long, each connection with one request at a time. */
export const loadRound = async (
  autocannon: Autocannon,
  service: Service,
  { path, connections, seconds, headers }: Load,
  signal: AbortSignal,
): Promise<LoadRound> => {
  signal.throwIfAborted();
  const url = `http://localhost:${service.port}${path}`;
  const before = service.cpuMs();
  const latencies: number[] = [];
  // It ends with one of its samples, so that none may last longer than the round.
  const run = autocannon({ url, connections, duration: seconds, sampleInt: Math.min(1, seconds) * 1000, headers });
  // Its own histogram knows whole milliseconds only.
  run.on('response', (_client, _status, _bytes, ms) => {
    if (latencies.length < MAX_LATENCIES) latencies.push(ms);
  });
  const unlink = onAbort(signal, () => run.stop());
  const { errors, timeouts, non2xx, duration, requests } = await run;
  unlink();
  signal.throwIfAborted();
  const isBad = errors + timeouts + non2xx > 0;
  if (isBad || requests.total === 0) {
    const why = isBad
      ? `${requests.total} answers, ${non2xx} of them other than 2xx, ${errors} errors and ${timeouts} timeouts; give a --url that it can answer under load`
      : `no answer in a round of ${seconds} s; give a longer --round`;
    throw new BenchError('ERR_SPANLINE_BENCH_COMMAND', `${path} gave ${why}`);
  }
  await settled();
  const after = service.cpuMs();
  const sorted = Float64Array.from(latencies).sort();
  return {
    requestsPerSecond: requests.total / duration,
    p99Ms: sorted[Math.floor((sorted.length - 1) * 0.99)],
    ...(before !== undefined && after !== undefined && { cpuUs: ((after - before) * 1000) / requests.total }),
  };
};

/** A round of either, one right after the other. */
export interface OverheadRound {
  readonly untraced: LoadRound;
  readonly traced: LoadRound;
}

/** One figure: the middle of each, and what tracing adds to it. */
export interface Cost {
  readonly name: 'CPU a request' | 'throughput' | 'p99';
  readonly unit: 'us' | 'req/s' | 'ms';
  readonly untraced: number;
  readonly traced: number;
  /** In the unit. */
  readonly added: Shift;
  /** As a share: 0.1 is 10 % more. */
  readonly change: Shift;
}

const costOf = (
  head: Pick<Cost, 'name' | 'unit'>,
  rounds: readonly OverheadRound[],
  figure: (round: LoadRound) => number | undefined,
): Cost | undefined => {
  const untraced = rounds.map((round) => figure(round.untraced) ?? Number.NaN);
  const traced = rounds.map((round) => figure(round.traced) ?? Number.NaN);
  if (![...untraced, ...traced].every((value) => value > 0)) return undefined;
  const { estimate, low, high } = shiftOf(traced.map((value, i) => Math.log(value / untraced[i])));
  return {
    ...head,
    untraced: medianOf(untraced),
    traced: medianOf(traced),
    added: shiftOf(traced.map((value, i) => value - untraced[i])),
    change: { estimate: Math.expm1(estimate), low: Math.expm1(low), high: Math.expm1(high) },
  };
};

const cpuOf = (rounds: readonly OverheadRound[]): Cost | undefined =>
  costOf({ name: 'CPU a request', unit: 'us' }, rounds, ({ cpuUs }) => cpuUs);

/** Whether CPU time a request grows by more than the share `most`, beyond chance; or why that is unknown. */
export const isCpuOver = (rounds: readonly OverheadRound[], max: number): boolean | string => {
  const cpu = cpuOf(rounds);
  if (cpu !== undefined) return cpu.change.low > max;
  return rounds.some(({ untraced }) => untraced.cpuUs === undefined)
    ? 'no CPU time: this system does not report it for other processes'
    : 'no CPU time: a round took less than the 10 ms that the system counts by; give a longer --round';
};

/** All figures that the rounds tell. */
export const costsOf = (rounds: readonly OverheadRound[]): readonly Cost[] =>
  [
    cpuOf(rounds),
    costOf({ name: 'throughput', unit: 'req/s' }, rounds, ({ requestsPerSecond }) => requestsPerSecond),
    costOf({ name: 'p99', unit: 'ms' }, rounds, ({ p99Ms }) => p99Ms),
  ].filter((cost) => cost !== undefined);
