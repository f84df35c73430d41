// What sibling packages use of tracedb beyond its public names. Exports only what they in fact import.

export { figuresOfRuns, medianOf } from './bench-history/figure.js';
export {
  changeText,
  type GateResult,
  gateReport,
  type JudgedKind,
  outcomeText,
  percentText,
  type ReportFacts,
  runGate,
} from './bench-history/gate/gate.js';
export { gitCommit, hasChanges, makeWorkTrees } from './bench-history/gate/work-trees.js';
export { type Shift, shiftOf } from './bench-history/judge.js';
export {
  type ComparedPoint,
  comparePoints,
  type KeptPoint,
  type KeptSeries,
  seriesLabel,
  seriesOfRuns,
} from './bench-history/kept-series.js';
export { runCommand } from './bench-history/run-command.js';
export { declaredDirection, unitOfParams } from './detect/direction.js';
export { RegressionSearch } from './detect/regressions.js';
export { DEFAULT_TEST_KEY } from './gold/blame.js';
export { TRIAGE_STATUSES } from './gold/expectations.js';
export { checkEntries } from './gold/gold-entry.js';
export { DEFAULT_DIGEST_DIGITS } from './gold/values.js';
export { quoted } from './params/param-text.js';
export { compareValues, historyOf, type ValuesAtCommit } from './perf/histories.js';
export { type ChangeTriage, checkedTriage, RegressionTriage, type TriagedChange } from './perf/regression-triage.js';
export { didYouMean } from './query/known-query.js';
export { MAX_TILE_SIZE, MIN_TILE_SIZE } from './tile.js';
