// The entry `@spanline/profile`: every public name of CPU profiles with labels, and nothing else. Importing it must neither load the
// inspector nor start anything.

export { type ProfileStats, stats } from './choose-carrier.js';
export {
  type ContinuousOptions,
  ContinuousProfiler,
  type ContinuousStats,
  continuousProfiler,
} from './continuous-profiler.js';
export { DynamicLabel, type LabelCpu } from './dynamic-label.js';
export { CPU_COVERAGE, CPU_NS, CPU_SAMPLES, CPU_STDERR_NS } from './join/cpu-properties.js';
export { CpuReporter, type CpuReporterOptions } from './join/cpu-reporter.js';
export { type JoinedProfile, type JoinOptions, joinProfile, type SpanCpu } from './join/join-profile.js';
export { SPAN_ID_LABEL, TRACE_ID_LABEL } from './join/span-labels.js';
export {
  type Carrier,
  type LabelledProfile,
  type LabelRecord,
  LOST_LABEL,
  NO_LABEL,
  OVERFLOW_LABEL,
  OWN_LABEL_KEY,
  type ProfileNodes,
  type ProfileSamples,
  type SampleCounts,
  SampleKind,
} from './labelled-profile.js';
export {
  type CpuProfileDocument,
  type CpuProfileNode,
  toCpuProfile,
} from './output/cpuprofile.js';
export { type FoldedOptions, toFolded } from './output/folded.js';
export { type PprofOptions, type ReadProfileOptions, toPprof } from './output/pprof.js';
export {
  openWriter,
  PROFILE_FORMATS,
  type ProfileFormat,
  type ProfileWriter,
  type WriterOptions,
} from './output/profile-format.js';
export { readProfile } from './output/read-profile.js';
export { labelKeys, selectLabels, WHOLE_LABEL } from './output/select-labels.js';
export {
  openSourceMaps,
  resolveSources,
  type SourceMapOptions,
  type SourceMapStats,
  type SourceMaps,
} from './output/source-maps.js';
export {
  type SpeedscopeDocument,
  type SpeedscopeOptions,
  type SpeedscopeProfile,
  toSpeedscope,
} from './output/speedscope.js';
export { type ProfileOptions, profile, type RunningProfile, type SamplingOptions, startProfile } from './profile.js';
export type { CounterName } from './profile-counters.js';
export {
  ProfileError,
  type ProfileErrorCode,
  ProfileOutputError,
  type ProfileOutputErrorCode,
} from './profile-error.js';
export {
  type DiffOptions,
  diff,
  type LabelChange,
  type LabelShare,
  shares,
  type TopOptions,
  type TopTable,
  top,
} from './shares.js';
export {
  type DirectorySinkOptions,
  type DirectorySinkStats,
  directorySink,
  type Retention,
} from './sinks/directory.js';
export {
  profileOnSignal,
  type SignalOptions,
  type SignalProfiler,
  type SignalStats,
} from './sinks/profile-on-signal.js';
export { type CallbackSinkStats, type CountingSink, callbackSink, type ProfileSink } from './sinks/profile-sink.js';
export { type PyroscopeSinkOptions, type PyroscopeSinkStats, pyroscopeSink } from './sinks/pyroscope.js';
