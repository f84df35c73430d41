// Samplers in the shape of OpenTelemetry's SDK: each is asked for every span. The decision of a share is the SDK's own for the same id, so
// that services of both decide alike.
import type { Attributes, Context, Link, SpanKind } from '@opentelemetry/api';
import { timers } from '../base/calls/timers.js';
import { OptionError } from '../base/errors.js';
import { inShare } from '../span/sampler.js';
import { getSpanContext, isSpanContextValid } from './api-values.js';
import type { OtelSampler, SamplingResult } from './sdk-interfaces.js';

const NOT_RECORD: SamplingResult = Object.freeze({ decision: 0 });
const SAMPLE: SamplingResult = Object.freeze({ decision: 2 });

const sampler = (name: string, shouldSample: OtelSampler['shouldSample']): OtelSampler => ({
  shouldSample,
  toString: () => name,
});

/** Record every span. */
export const alwaysOn: OtelSampler = sampler('AlwaysOnSampler', () => SAMPLE);

/** Record no span. */
export const alwaysOff: OtelSampler = sampler('AlwaysOffSampler', () => NOT_RECORD);

const wordAt = (traceId: string, at: number): number => Number.parseInt(traceId.slice(at, at + 8), 16);

/**
 * Record a share of traces, 0 to 1, by their ids: as OpenTelemetry's `TraceIdRatioBasedSampler` decides for the same id. Throws
 * `ERR_SPANLINE_OPTION` for any other share.
 */
export const traceIdRatio = (share: number): OtelSampler => {
  const isIn = inShare('traceIdRatio', share);
  return sampler(`TraceIdRatioBased{${share}}`, (_, id) =>
    isIn(wordAt(id, 0), wordAt(id, 8), wordAt(id, 16), wordAt(id, 24)) ? SAMPLE : NOT_RECORD,
  );
};

/** Follow the parent's decision; `root` decides for what has none. */
export const parentBasedSampler = (root: OtelSampler): OtelSampler =>
  sampler(`ParentBased{root=${root}}`, (context, ...rest) => {
    const parent = getSpanContext(context);
    if (parent === undefined || !isSpanContextValid(parent)) return root.shouldSample(context, ...rest);
    return (parent.traceFlags & 1) === 0 ? NOT_RECORD : SAMPLE;
  });

/** A rule of {@link ruleSampler}: what it names must all hold. */
export interface SamplingRule {
  /** The whole name, or a pattern that is found in it. */
  readonly name?: string | RegExp;
  readonly kind?: SpanKind;
  /** Attributes that the span starts with: equal, or a text in which the pattern is found. */
  readonly attributes?: Readonly<Record<string, string | number | boolean | RegExp>>;
  /** Decides for spans that the rule is for. */
  readonly sampler: OtelSampler;
}

const fits = (wanted: string | number | boolean | RegExp, value: unknown): boolean => {
  if (!(wanted instanceof RegExp)) return wanted === value;
  wanted.lastIndex = 0;
  return typeof value === 'string' && wanted.test(value);
};

const isFor = (rule: SamplingRule, name: string, kind: SpanKind, attributes: Attributes): boolean => {
  if (rule.name !== undefined && !fits(rule.name, name)) return false;
  if (rule.kind !== undefined && rule.kind !== kind) return false;
  return Object.entries(rule.attributes ?? {}).every(([key, wanted]) => fits(wanted, attributes[key]));
};

/** The first rule that is for a span decides; `otherwise` where none is. */
export const ruleSampler = (rules: readonly SamplingRule[], otherwise: OtelSampler = alwaysOn): OtelSampler =>
  sampler(
    'RuleSampler',
    (context: Context, traceId: string, name: string, kind: SpanKind, attributes: Attributes, links: Link[]) => {
      const rule = rules.find((one) => isFor(one, name, kind, attributes));
      return (rule?.sampler ?? otherwise).shouldSample(context, traceId, name, kind, attributes, links);
    },
  );

/**
 * Record so many spans a second at max, those of a second that is saved up included. Use it under {@link parentBasedSampler}, or traces
 * are cut. Throws `ERR_SPANLINE_OPTION` unless the number is above 0.
 */
export const perSecond = (max: number): OtelSampler => {
  if (typeof max !== 'number' || !(max > 0 && max < Number.POSITIVE_INFINITY)) {
    throw new OptionError(`perSecond: the number must be above 0, not ${String(max)}.`);
  }
  const burst = Math.max(1, max);
  let left = burst;
  let at = timers.monotonicMs();
  return sampler(`PerSecond{${max}}`, () => {
    const time = timers.monotonicMs();
    left = Math.min(burst, left + ((time - at) / 1000) * max);
    at = time;
    if (left < 1) return NOT_RECORD;
    left--;
    return SAMPLE;
  });
};
