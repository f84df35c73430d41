// Entry `@spanline/tracedb/bench-history`: results of benchmarks as figures, kept by commit, compared and judged. It must start no process: what does is
// the command's.
export { BenchError, type BenchErrorCode, type BenchFigure, MAX_SAMPLES } from './figure.js';
export {
  appendBenchRun,
  type BenchRun,
  benchRunLine,
  machineClass,
  nodeMajor,
  parseBenchRun,
  readBenchHistory,
} from './history-file.js';
export { type JudgedSeries, type Judgement, type JudgeOptions, judgeRounds, type RoundSeries } from './judge.js';
export { BENCH_FORMATS, type BenchOutput, parseBenchOutput } from './parse-output.js';
