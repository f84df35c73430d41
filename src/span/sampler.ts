// Head sampling: whether a new root records. Asked once per root; a sampler that throws counts as "do not record".
//
// What a sampler or `keep` answered. It is asked on the recording path, where a wrong answer is counted, never thrown.

import { types } from 'node:util';
import { OptionError } from '../base/errors.js';
import { Counter, count, wrongArgument } from '../rows/counters.js';
import type { SpanContext } from './span-context.js';
import { functionKind } from './traced-options.js';

/** What a sampler gets when a root starts. */
export interface SamplingInput {
  readonly name: string;
  readonly context: SpanContext;
}

/** Decides whether the trace of a new root is recorded. */
export type Sampler = (input: SamplingInput) => boolean;

/** Record every trace, whatever the caller decided. */
export const always: Sampler = () => true;

/** Record no trace. */
export const never: Sampler = () => false;

/** Why a function cannot answer at once with true or false; undefined when it may. */
export const whyNoDecider = (given: unknown): string | undefined => {
  if (typeof given !== 'function') return `must be a function, not ${given === null ? 'null' : typeof given}`;
  const kind = functionKind(given);
  if (kind !== 'sync') return `must answer at once; it cannot be ${kind === 'generator' ? 'a' : 'an'} ${kind} function`;
  if (given === ratio) return 'needs a share: ratio(0.1)';
  return given === parentBased ? 'is called with parentheses: parentBased()' : undefined;
};

/**
 * Whether a trace with an id of these words is among `share` of all: as `TraceIdRatioBasedSampler` of OpenTelemetry's SDK decides for the same id, so
 * that services of both decide alike. `name` is for the error: throws `ERR_SPANLINE_OPTION` unless 0 <= share <= 1.
 */
export const inShare = (name: string, share: number): ((w0: number, w1: number, w2: number, w3: number) => boolean) => {
  if (typeof share !== 'number' || !(share >= 0 && share <= 1)) {
    const given = typeof share === 'number' ? share : `a ${typeof share}`;
    throw new OptionError(`${name}: the share must be a number from 0 to 1, not ${given}.`);
  }
  const bound = share === 1 ? 2 ** 32 : Math.floor(share * 0xffffffff);
  return (w0, w1, w2, w3) => (w0 ^ w1 ^ w2 ^ w3) >>> 0 < bound;
};

/**
 * Record this share of traces, decided by the trace id alone so that every process decides alike, those with OpenTelemetry's SDK too.
 *
 * Throws `ERR_SPANLINE_OPTION` unless 0 <= share <= 1.
 *
 * @example
 * ```ts
 * configure({ sampler: parentBased(ratio(0.01)) });
 * ```
 */
export const ratio = (share: number): Sampler => {
  const isIn = inShare('ratio', share);
  return ({ context: { w0, w1, w2, w3 } }) => isIn(w0, w1, w2, w3);
};

/**
 * Follow the caller's decision when there is one (a remote span, or a context made unsampled by hand), else ask `root`.
 * This is the default, with `always` for new traces.
 *
 * Throws `ERR_SPANLINE_OPTION` when `root` is not a sampler.
 *
 * @example
 * ```ts
 * configure({ sampler: parentBased(({ name }) => name !== 'GET /health') });
 * ```
 */
export const parentBased = (root: Sampler = always): Sampler => {
  const why = whyNoDecider(root);
  if (why !== undefined) throw new OptionError(`parentBased: the sampler of new traces ${why}.`);
  return (input) => {
    const { isRemote, hasSpan, sampled } = input.context;
    return (isRemote && hasSpan) || !sampled ? sampled : root(input);
  };
};

const REMEDY = {
  sampler: 'A sampler gave something else than true or false: it is asked when a root starts and cannot be async.',
  keep: 'keep gave something else than true or false: it is asked when a trace is reported and cannot be async.',
} as const;

/** The answer; undefined when it is a promise, which comes too late. */
export const decision = (of: keyof typeof REMEDY, answer: unknown): unknown => {
  if (typeof answer === 'boolean') return answer;
  wrongArgument(REMEDY[of]);
  if (!types.isPromise(answer)) return answer;
  // Nobody else has this promise.
  answer.catch(() => {});
  return undefined;
};

/** Whether the trace of a new root is recorded. A sampler that throws decides against it. */
export const decide = (sink: { readonly sampler: Sampler }, name: string, context: SpanContext): boolean => {
  try {
    return Boolean(decision('sampler', sink.sampler({ name, context })));
  } catch {
    count(Counter.callbackErrors);
    return false;
  }
};
