// Options of a collector: defaults, and a check that names the option that is wrong. Every bound that a program may set is here.
import { hostname } from 'node:os';
import { warn } from '../base/calls/attempt.js';
import { OptionError, wrongOption } from '../base/errors.js';
import { anyNumber, flag, shown } from '../base/options/checks.js';
import { cleanValue } from '../rows/property.js';
import type { Sampler } from '../span/sampler.js';
import { parentBased, whyNoDecider } from '../span/sampler.js';
import type { Reporter, Resource, Trace } from './reporter.js';

/** Options of {@link Collector} and of `configure`. Every number is a bound; what it refuses is counted in `stats()`. */
export interface CollectorOptions {
  /** Name of this service. Default: OTEL_SERVICE_NAME, `service.name` in OTEL_RESOURCE_ATTRIBUTES, else `unknown_service:node`. */
  readonly serviceName?: string;
  /** Attributes of the resource, added to those of OTEL_RESOURCE_ATTRIBUTES. */
  readonly resourceAttributes?: Resource['attributes'];
  /** Head sampling, asked once per root. Default: follow the caller, record every new trace. */
  readonly sampler?: Sampler;
  /** Tail sampling: sees a trace when its root has ended, before it is reported; false drops it. Its late spans follow the decision. */
  readonly keep?: (trace: Trace) => boolean;
  /** Report what has finished of traces whose root is still open, every interval. Default false. */
  readonly reportOpenTraces?: boolean;
  /** Milliseconds from the end of a root to its report at the latest. Default 1000. */
  readonly reportIntervalMs?: number;
  /** Spans waiting that make a report start at once. Default 16384. */
  readonly reportThresholdSpans?: number;
  /** Spans in one call of a reporter; one trace is never split. Default 8192. */
  readonly maxBatchSpans?: number;
  /** Milliseconds a call of a reporter may take before it counts as failed. Default 30000. */
  readonly reportTimeoutMs?: number;
  /** Bytes of finished traces waiting to be delivered; beyond, the oldest is dropped. Default 64 MiB; more than 1 GiB counts as 1 GiB. */
  readonly maxQueuedBytes?: number;
  /** Roots open at one time; beyond, the oldest is evicted. Default 65536. */
  readonly maxOpenTraces?: number;
  /** Bytes held by open traces; beyond, the oldest is evicted. Default 64 MiB; more than 1 GiB counts as 1 GiB. */
  readonly maxOpenBytes?: number;
  /** Spans of one trace. Default 131072. */
  readonly maxSpansPerTrace?: number;
  /** Properties of one cross-async span. Default 128. */
  readonly maxPropertiesPerSpan?: number;
  /** Events of one cross-async span. Default 128. */
  readonly maxEventsPerSpan?: number;
  /** Links of one cross-async span. Default 128. */
  readonly maxLinksPerSpan?: number;
  /** First and longest wait before a failed batch is tried again, milliseconds. Default 100 and 10000. */
  readonly retryMinMs?: number;
  readonly retryMaxMs?: number;
  /** Milliseconds an orderly exit may be held back to deliver what is queued. Default 2000. */
  readonly exitTimeoutMs?: number;
}

/** Options with nothing left open. */
export type ResolvedOptions = Required<Omit<CollectorOptions, 'serviceName' | 'resourceAttributes' | 'keep'>> & {
  readonly keep: ((trace: Trace) => boolean) | undefined;
  readonly resource: Resource;
};

/** Throws {@link OptionError} for what is not an object, as programs without types may pass. */
export const requireOptions = (options: unknown, place = ''): void => {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return;
  throw new OptionError(`${place === '' ? 'Options' : `Option "${place}"`} must be an object, not ${shown(options)}.`);
};

/** Throws {@link OptionError} for what is not an object, or has an option of another name. `place`: the option that they are the options of. */
export const checkNames = (options: object, known: readonly string[], place = ''): void => {
  requireOptions(options, place);
  const prefix = place === '' ? '' : `${place}.`;
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw new OptionError(`Unknown option "${prefix}${name}". Known: ${known.join(', ')}.`);
  }
};

const describe = (value: unknown): string => {
  if (typeof value === 'function') return `the class or function ${value.name || 'without a name'}; make one with new`;
  return typeof value === 'object' && value !== null ? 'an object without them' : String(value);
};

/** Each reporter once; calls nothing of them. Throws {@link OptionError}. */
export const checkReporters = (given: readonly unknown[]): readonly Reporter[] => {
  for (const one of given) {
    const { name, report } = (typeof one === 'object' && one !== null ? one : {}) as Partial<Reporter>;
    if (typeof name === 'string' && typeof report === 'function') continue;
    throw new OptionError(`A reporter is an object with a name and a method report, not ${describe(one)}.`);
  }
  return [...new Set(given as readonly Reporter[])];
};

const MIB = 1 << 20;

/** What one trace may hold, which the bounds of all enforce: the table of traces counts its bytes in a signed word. */
const MAX_BYTES = 1 << 30;

const NUMBERS = {
  reportIntervalMs: 1000,
  reportThresholdSpans: 16_384,
  maxBatchSpans: 8192,
  reportTimeoutMs: 30_000,
  maxQueuedBytes: 64 * MIB,
  maxOpenTraces: 65_536,
  maxOpenBytes: 64 * MIB,
  maxSpansPerTrace: 131_072,
  maxPropertiesPerSpan: 128,
  maxEventsPerSpan: 128,
  maxLinksPerSpan: 128,
  retryMinMs: 100,
  retryMaxMs: 10_000,
  exitTimeoutMs: 2000,
} as const;

const FUNCTIONS = ['sampler', 'keep'] as const;
const OTHERS = ['serviceName', 'resourceAttributes', 'reportOpenTraces'] as const;
const KNOWN: readonly string[] = [...Object.keys(NUMBERS), ...FUNCTIONS, ...OTHERS];

const checkAttributes = (attributes: object): void => {
  // An array, a Map or Headers have keys of another kind than attributes.
  if (typeof attributes !== 'object' || attributes === null || Symbol.iterator in attributes) {
    throw new OptionError(
      `Option "resourceAttributes" must be an object of names and values, not ${shown(attributes)}.`,
    );
  }
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || cleanValue(value) !== undefined) continue;
    throw new OptionError(
      `Option "resourceAttributes": "${key}" must be text, a number, a bigint, true or false, or an array of one of them.`,
    );
  }
};

const check = (options: CollectorOptions): void => {
  checkNames(options, KNOWN);
  for (const key of Object.keys(NUMBERS) as (keyof typeof NUMBERS)[]) {
    const value = options[key];
    if (value !== undefined) anyNumber(`Option "${key}"`, value, [1], wrongOption);
  }
  for (const key of FUNCTIONS) {
    const why = options[key] === undefined ? undefined : whyNoDecider(options[key]);
    if (why !== undefined) throw new OptionError(`Option "${key}" ${why}.`);
  }
  const { reportOpenTraces, resourceAttributes } = options;
  if (reportOpenTraces !== undefined) flag('Option "reportOpenTraces"', reportOpenTraces, wrongOption);
  if (resourceAttributes !== undefined) checkAttributes(resourceAttributes);
  if (options.serviceName !== undefined && (typeof options.serviceName !== 'string' || options.serviceName === '')) {
    throw new OptionError('Option "serviceName" must be a string that is not empty.');
  }
};

/** The value of OTEL_RESOURCE_ATTRIBUTES that was complained of. */
let warnedAttributes = '';

const reportBroken = (all: string, places: readonly number[]): void => {
  if (places.length === 0 || all === warnedAttributes) return;
  warnedAttributes = all;
  // Which one, not what it is: it may hold a secret.
  const message = `OTEL_RESOURCE_ATTRIBUTES must be key=value pairs with commas between them, percent-encoded; left out: pair ${places.join(', ')}.`;
  warn(message, 'SPANLINE_RESOURCE_ATTRIBUTES');
};

// OTEL_RESOURCE_ATTRIBUTES: key=value pairs separated by commas, percent-encoded. A malformed pair is left out and said once.
const environmentAttributes = (): Record<string, string> => {
  const out: Record<string, string> = {};
  const all = process.env.OTEL_RESOURCE_ATTRIBUTES ?? '';
  const broken: number[] = [];
  for (const [i, pair] of all.split(',').entries()) {
    if (pair.trim() === '') continue;
    const at = pair.indexOf('=');
    const key = pair.slice(0, Math.max(0, at)).trim();
    try {
      const value = decodeURIComponent(pair.slice(at + 1).trim());
      if (key === '') broken.push(i + 1);
      else out[key] = value;
    } catch {
      // A stray percent sign: the specification says to discard the value.
      broken.push(i + 1);
    }
  }
  reportBroken(all, broken);
  return out;
};

const resolveResource = (options: CollectorOptions): Resource => {
  const { 'service.name': named, ...attributes } = environmentAttributes();
  return {
    // An empty variable counts as not set.
    serviceName: options.serviceName ?? (process.env.OTEL_SERVICE_NAME || named || 'unknown_service:node'),
    attributes: {
      'host.name': hostname(),
      'process.pid': process.pid,
      'process.runtime.name': 'nodejs',
      'process.runtime.version': process.versions.node,
      ...attributes,
      ...options.resourceAttributes,
    },
  };
};

/**
 * Check and complete. Throws {@link OptionError}. One literal with a place for each option, so that V8 gives all of them one hidden class: the recording
 * path reads them, and after each `configure` would be compiled anew for a class of its own.
 */
export const resolveOptions = (options: CollectorOptions): ResolvedOptions => {
  check(options);
  const number = (key: keyof typeof NUMBERS): number => options[key] ?? NUMBERS[key];
  return {
    reportIntervalMs: number('reportIntervalMs'),
    reportThresholdSpans: number('reportThresholdSpans'),
    maxBatchSpans: number('maxBatchSpans'),
    reportTimeoutMs: number('reportTimeoutMs'),
    maxQueuedBytes: Math.min(number('maxQueuedBytes'), MAX_BYTES),
    maxOpenTraces: number('maxOpenTraces'),
    maxOpenBytes: Math.min(number('maxOpenBytes'), MAX_BYTES),
    maxSpansPerTrace: number('maxSpansPerTrace'),
    maxPropertiesPerSpan: number('maxPropertiesPerSpan'),
    maxEventsPerSpan: number('maxEventsPerSpan'),
    maxLinksPerSpan: number('maxLinksPerSpan'),
    retryMinMs: number('retryMinMs'),
    retryMaxMs: number('retryMaxMs'),
    exitTimeoutMs: number('exitTimeoutMs'),
    sampler: options.sampler ?? parentBased(),
    keep: options.keep,
    reportOpenTraces: options.reportOpenTraces ?? false,
    resource: resolveResource(options),
  };
};
