// The sampler that OTEL_TRACES_SAMPLER names.
import { always, never, parentBased, type Sampler } from '../span/sampler.js';
import type { SamplerName } from './settings.js';

const WORD = 2 ** 32;

/** As OpenTelemetry's `TraceIdRatioBasedSampler` decides for the same id, so that services of both decide alike. */
const byTraceId = (share: number): Sampler => {
  const bound = share === 1 ? WORD : Math.floor(share * (WORD - 1));
  return ({ context: { w0, w1, w2, w3 } }) => (w0 ^ w1 ^ w2 ^ w3) >>> 0 < bound;
};

/** `share` is for those by trace id; all where none is given. */
export const samplerOf = (name: SamplerName, share = 1): Sampler => {
  switch (name) {
    case 'always_on':
      return always;
    case 'always_off':
      return never;
    case 'traceidratio':
      return byTraceId(share);
    case 'parentbased_always_on':
      return parentBased(always);
    case 'parentbased_always_off':
      return parentBased(never);
    case 'parentbased_traceidratio':
      return parentBased(byTraceId(share));
  }
};
