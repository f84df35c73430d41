// What the environment asks of `register`: OpenTelemetry's standard variables and a few of our own. Only reads; `start.ts` acts.
import type { FlightRecorderOptions } from '../flight-recorder/index.js';
import { always, never, parentBased, ratio, type Sampler } from '../span/sampler.js';
import { flightRecorderOf } from './flight-settings.js';
import { Variables, type Warn } from './variables.js';

/** The samplers that OTEL_TRACES_SAMPLER names; `share` is for those by trace id. */
const SAMPLERS = {
  always_on: () => always,
  always_off: () => never,
  traceidratio: (share: number) => ratio(share),
  parentbased_always_on: () => parentBased(always),
  parentbased_always_off: () => parentBased(never),
  parentbased_traceidratio: (share: number) => parentBased(ratio(share)),
} as const;
const EXPORTERS = ['otlp', 'jaeger', 'console', 'none'] as const;
const METRICS_EXPORTERS = ['otlp', 'prometheus', 'none'] as const;
const PROPAGATORS = ['tracecontext', 'baggage', 'b3', 'b3multi', 'jaeger', 'none'] as const;
const LEVELS = ['none', 'error', 'warn', 'info', 'debug', 'verbose', 'all'] as const;

export type SamplerName = keyof typeof SAMPLERS;
export type ExporterName = Exclude<(typeof EXPORTERS)[number], 'none'>;
export type MetricsExporterName = Exclude<(typeof METRICS_EXPORTERS)[number], 'none'>;
export type PropagatorName = (typeof PROPAGATORS)[number];
export type LogLevel = (typeof LEVELS)[number];

/** All where no share is given. */
export const samplerOf = (name: SamplerName, share = 1): Sampler => SAMPLERS[name](share);

/** Everything that was asked for. */
export interface Settings {
  readonly isDisabled: boolean;
  readonly level: LogLevel;
  readonly exporters: readonly ExporterName[];
  /** Empty: nothing is measured. */
  readonly metrics: readonly MetricsExporterName[];
  /** Directory of an archive to write to, or the address of one in a bucket. */
  readonly archive: string | undefined;
  /** Directory in which each process has one where spans wait until they are in a bucket. */
  readonly spool: string;
  /** Undefined where it is off. */
  readonly flightRecorder: FlightRecorderOptions | undefined;
  readonly sampler: SamplerName;
  /** Undefined where the sampler's default serves. */
  readonly samplerShare: number | undefined;
  readonly propagators: readonly PropagatorName[];
  readonly bounds: ReturnType<typeof boundsOf>;
  readonly apiLimits: ReturnType<typeof apiLimitsOf>;
  /** Names of instrumentations; undefined for all. */
  readonly enabled: readonly string[] | undefined;
  readonly disabled: readonly string[];
  /** Calls to databases and caches are traced under a parent only. */
  readonly databasesNeedParent: boolean;
}

/** OTEL_BSP_MAX_QUEUE_SIZE counts spans and ours is a bound of bytes: what a span with some properties takes. */
const BYTES_OF_SPAN = 512;

/** A limit of zero is a limit, for the specification; ours begin at one. */
const atLeastOne = (value: number | undefined): number | undefined =>
  value === undefined ? undefined : Math.max(1, value);

/** Numbers of OTEL_BSP_* and OTEL_SPAN_*_LIMIT; undefined where the collector's default serves. */
const boundsOf = (variables: Variables) => {
  const queued = variables.whole('OTEL_BSP_MAX_QUEUE_SIZE', 1);
  const limit = (kind: string) => variables.whole(`OTEL_SPAN_${kind}_COUNT_LIMIT`, 0);
  return {
    reportIntervalMs: atLeastOne(variables.whole('OTEL_BSP_SCHEDULE_DELAY', 0)),
    reportTimeoutMs: atLeastOne(variables.whole('OTEL_BSP_EXPORT_TIMEOUT', 0)),
    maxBatchSpans: variables.whole('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 1),
    maxQueuedBytes: queued === undefined ? undefined : queued * BYTES_OF_SPAN,
    maxPropertiesPerSpan: atLeastOne(limit('ATTRIBUTE') ?? variables.whole('OTEL_ATTRIBUTE_COUNT_LIMIT', 0)),
    maxEventsPerSpan: atLeastOne(limit('EVENT')),
    maxLinksPerSpan: atLeastOne(limit('LINK')),
  };
};

/** Limits of what OpenTelemetry's API records; undefined where the default serves. */
const apiLimitsOf = (variables: Variables) => {
  const text = (kind: string) => variables.whole(`OTEL_${kind}ATTRIBUTE_VALUE_LENGTH_LIMIT`, 0);
  return {
    attributeValueLengthLimit: atLeastOne(text('SPAN_') ?? text('')),
    attributePerEventCountLimit: variables.whole('OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT', 0),
    attributePerLinkCountLimit: variables.whole('OTEL_LINK_ATTRIBUTE_COUNT_LIMIT', 0),
  };
};

/** Read all of them. `warn` is called for each wrong one. */
export const readSettings = (env: NodeJS.ProcessEnv, warn: Warn): Settings => {
  const variables = new Variables(env, warn);
  const archive = variables.text('SPANLINE_ARCHIVE');
  const enabled = variables.list('OTEL_NODE_ENABLED_INSTRUMENTATIONS');
  return {
    isDisabled: variables.flag('OTEL_SDK_DISABLED'),
    level: variables.word('OTEL_LOG_LEVEL', LEVELS, 'info'),
    // With an archive on disk there is no default exporter.
    exporters: variables
      .words('OTEL_TRACES_EXPORTER', EXPORTERS, [archive === undefined ? 'otlp' : 'none'])
      .filter((name) => name !== 'none'),
    metrics: variables.words('OTEL_METRICS_EXPORTER', METRICS_EXPORTERS, ['none']).filter((name) => name !== 'none'),
    archive,
    spool: variables.text('SPANLINE_SPOOL') ?? 'spanline-spool',
    flightRecorder: flightRecorderOf(variables, warn),
    sampler: variables.word('OTEL_TRACES_SAMPLER', Object.keys(SAMPLERS) as SamplerName[], 'parentbased_always_on'),
    samplerShare: variables.text('OTEL_TRACES_SAMPLER')?.includes('ratio')
      ? variables.share('OTEL_TRACES_SAMPLER_ARG')
      : undefined,
    propagators: variables.words('OTEL_PROPAGATORS', PROPAGATORS, ['tracecontext', 'baggage']),
    bounds: boundsOf(variables),
    apiLimits: apiLimitsOf(variables),
    enabled: enabled.length === 0 ? undefined : enabled,
    disabled: variables.list('OTEL_NODE_DISABLED_INSTRUMENTATIONS'),
    databasesNeedParent: variables.flag('SPANLINE_DATABASES_REQUIRE_PARENT'),
  };
};
