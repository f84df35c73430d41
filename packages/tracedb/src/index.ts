// The entry `@spanline/tracedb`: every public name of the trace databases, and nothing else. Importing it must load no optional package.
export { DIRECTION_BY_UNIT, type Direction, directionOf } from './detect/direction.js';
export { type ChangePoint, type ChangePointOptions, changePoints } from './detect/e-divisive.js';
export {
  findRegressions,
  type Regression,
  type RegressionOptions,
  type Series,
  type SeriesCommit,
} from './detect/regressions.js';
export { loadStatistics, type Statistics } from './detect/statistics.js';
export type { StepDetectorName, StepFit, StepStatus } from './detect/step-fit.js';
export { findSteps, type Step, type StepFitOptions, type StepScanOptions, stepFit } from './detect/step-fit.js';
export { type Blame, blameDigest, blameUntriaged, type Suspect } from './gold/blame.js';
export {
  type ChangeSearch,
  type CommitChanges,
  type DigestChange,
  type DigestChanges,
  digestChanges,
} from './gold/digest-changes.js';
export type {
  Expectation,
  ExpectationChange,
  Expectations,
  StatusOf,
  TestDigest,
  Triage,
  TriageOptions,
  TriageStatus,
} from './gold/expectations.js';
export type { GoldEntry } from './gold/gold-entry.js';
export { GOLD_SCHEMA } from './gold/gold-keys.js';
export {
  type GoldSettings,
  type GoldStats,
  GoldStore,
  type GoldStoreOptions,
  type PutOptions,
  type TileOptions,
} from './gold/gold-store.js';
export type { GoldTile, GoldTrace, TraceFragment } from './gold/gold-tile-reader.js';
export type { IgnoreMatcher, IgnoreRule, IgnoreRuleInput, IgnoreRules } from './gold/ignore-rules.js';
export type { ClosestDigest, ClosestDigests, DigestDistance, TraceSelection } from './gold/search-digests.js';
export { type DigestResult, type DigestResults, type DigestSearch, searchDigests } from './gold/search-digests.js';
export { type UnseenDigest, unseenDigests } from './gold/unseen-digests.js';
export type { Time } from './gold/values.js';
export { configProblems, type DetectionConfig, type InstanceConfig, readInstanceConfig } from './ingest/config.js';
export { INGEST_FORMATS, type IngestFormat } from './ingest/formats.js';
export type { IngestCommit, IngestPoint } from './ingest/ingest-commit.js';
export { INGEST_LIMITS, type IngestLimits } from './ingest/ingest-file.js';
export { type IngestOptions, type IngestSummary, readIngestFile, validateIngestFile } from './ingest/read-file.js';
export type { Problem } from './ingest/shape.js';
export { OpsRow, type OpsRowOptions, type OpsRowStats, OpsRows, type OpsRowsStats } from './params/ops-rows.js';
export { OrderedParamSet } from './params/ordered-param-set.js';
export { ParamSet } from './params/param-set.js';
export {
  type CleaningRule,
  checkParams,
  cleaningRule,
  DEFAULT_RULE,
  forceValid,
  makeStructuredKey,
  type Params,
  parseStructuredKey,
  structuredKeyOf,
} from './params/param-text.js';
export { type Commit, type CommitBound, type CommitInfo, CommitLog, type CommitRange } from './perf/commit-log.js';
export {
  type ComparedSeries,
  type CompareOptions,
  compareCommits,
  type ReadSeriesOptions,
  readSeries,
} from './perf/histories.js';
export {
  type IngestedFile,
  type IngestFilesOptions,
  type IngestProgress,
  ingestFile,
  ingestFiles,
  type RefusedFile,
} from './perf/ingest-files.js';
export type { PerfConfig } from './perf/keys.js';
export { PERF_SCHEMA, type PerfStats, PerfStore, type PerfStoreOptions, type QueryLike } from './perf/perf-store.js';
export type { PerfSeries, PerfTrace, QuerySeriesOptions } from './perf/series-reader.js';
export type { CommitPoints, Point, WriteResult } from './perf/trace-writer.js';
export {
  type EmptyPlan,
  type Plan,
  type PlannedCondition,
  type PlannedValue,
  type PlanOptions,
  planQuery,
} from './query/plan.js';
export {
  compileQuery,
  formatQuery,
  makeQuery,
  parseQuery,
  type Query,
  type QueryPart,
  queryFromParams,
} from './query/query.js';
export { openTable, storeExists } from './table/open-table.js';
export type {
  CallOptions,
  Cell,
  Mutation,
  Predicate,
  ReadOptions,
  Row,
  RowFailure,
  RowMutation,
  RowSelection,
  TableSchema,
  TableStats,
  WideColumnTable,
} from './table/wide-column-table.js';
export { PartialFailureError, TraceDbError, type TraceDbErrorCode } from './tracedb-error.js';
