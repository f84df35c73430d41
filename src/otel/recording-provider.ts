// RecordingProvider: what OpenTelemetry's API asks for tracers, whichever copy of it does. Its spans are recorded by this library and go where its
// collector reports to; processors of OpenTelemetry's SDK see them beside that.
import type { Tracer, TracerOptions, TracerProvider } from '@opentelemetry/api';
import { OptionError } from '../base/errors.js';
import { getOrMake } from '../base/maps/maps.js';
import type { Collector } from '../collector/collector.js';
import { defaultCollector } from '../collector/default-collector.js';
import { checkNames } from '../collector/options.js';
import { spanScope } from '../rows/row-text.js';
import { DEFAULT_LIMITS } from './attributes.js';
import type { OtelIdGenerator, OtelSampler, OtelSpanProcessor } from './sdk-interfaces.js';
import { SpanlineTracer, type TracerSettings } from './tracer.js';

/** Options of `SpanlineTracerProvider`. */
export interface TracerProviderOptions {
  /** Gets the traces. Default: the collector of `configure` and `setReporter`. */
  readonly collector?: Collector;
  /** Asked for every span, a sampler of OpenTelemetry's SDK or of this entry. Default: that of the collector, asked for every root. */
  readonly sampler?: OtelSampler;
  readonly idGenerator?: OtelIdGenerator;
  /** Processors of OpenTelemetry's SDK, called for every span that records. */
  readonly spanProcessors?: readonly OtelSpanProcessor[];
  /** Characters of a text in an attribute; longer ones are cut. Default: no bound. */
  readonly attributeValueLengthLimit?: number;
  /** Attributes of one event, and of one link; what is beyond is counted. Default: 128 each. */
  readonly attributePerEventCountLimit?: number;
  readonly attributePerLinkCountLimit?: number;
}

const METHODS = {
  sampler: ['shouldSample'],
  idGenerator: ['generateTraceId', 'generateSpanId'],
  collector: ['flush', 'reportSync'],
} as const;

/** Numbers, and the min that each may be. */
const LIMITS = {
  attributeValueLengthLimit: 1,
  attributePerEventCountLimit: 0,
  attributePerLinkCountLimit: 0,
} as const;

const NAMES = ['collector', 'sampler', 'idGenerator', 'spanProcessors', ...Object.keys(LIMITS)];

const check = (options: TracerProviderOptions): void => {
  checkNames(options, NAMES);
  const needs = (what: string, given: unknown, methods: readonly string[]): void => {
    const missing = methods.find((name) => typeof (given as Record<string, unknown> | null)?.[name] !== 'function');
    if (missing !== undefined) throw new OptionError(`Option "${what}" needs the method ${missing}.`);
  };
  for (const key of ['sampler', 'idGenerator', 'collector'] as const) {
    if (options[key] !== undefined) needs(key, options[key], METHODS[key]);
  }
  for (const one of options.spanProcessors ?? [])
    needs('spanProcessors', one, ['onStart', 'onEnd', 'forceFlush', 'shutdown']);
  for (const [name, min] of Object.entries(LIMITS)) {
    const max = options[name as keyof typeof LIMITS] ?? min;
    if (typeof max !== 'number' || !(max >= min)) {
      throw new OptionError(`Option "${name}" must be a number from ${min} on.`);
    }
  }
};

/** Throws `ERR_SPANLINE_OPTION` naming the option that is wrong. */
export class RecordingProvider implements TracerProvider {
  readonly #settings: TracerSettings;
  readonly #collector: Collector | undefined;
  readonly #tracers = new Map<string, SpanlineTracer>();

  constructor(options: TracerProviderOptions = {}) {
    check(options);
    const { collector, sampler, idGenerator, spanProcessors = [] } = options;
    this.#collector = collector;
    this.#settings = {
      collector,
      sampler,
      idGenerator,
      processors: [...spanProcessors],
      limits: {
        text: options.attributeValueLengthLimit ?? DEFAULT_LIMITS.text,
        ofEvent: options.attributePerEventCountLimit ?? DEFAULT_LIMITS.ofEvent,
        ofLink: options.attributePerLinkCountLimit ?? DEFAULT_LIMITS.ofLink,
      },
    };
  }

  /** A tracer by the name and version of the library that records: the scope of its spans. */
  getTracer(name: string, version = '', options?: TracerOptions): Tracer {
    const schemaUrl = options?.schemaUrl ?? '';
    const key = `${name}@${version}:${schemaUrl}`;
    return getOrMake(this.#tracers, key, () => new SpanlineTracer(spanScope(name, version, schemaUrl), this.#settings));
  }

  /** Hand over what has finished, to reporters and processors. Rejects with what a processor rejects with. */
  async forceFlush(): Promise<void> {
    await (this.#collector ?? defaultCollector()).flush();
    await Promise.all(this.#settings.processors.map((one) => one.forceFlush()));
  }

  /** Flush, and release processors and reporters. */
  async shutdown(): Promise<void> {
    await (this.#collector ?? defaultCollector()).shutdown();
    await Promise.all(this.#settings.processors.map((one) => one.shutdown()));
  }
}
