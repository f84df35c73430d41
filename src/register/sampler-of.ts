// The sampler that OTEL_TRACES_SAMPLER names.
import { always, never, parentBased, ratio, type Sampler } from '../span/sampler.js';
import type { SamplerName } from './settings.js';

/** `share` is for those by trace id; all where none is given. */
export const samplerOf = (name: SamplerName, share = 1): Sampler => {
  switch (name) {
    case 'always_on':
      return always;
    case 'always_off':
      return never;
    case 'traceidratio':
      return ratio(share);
    case 'parentbased_always_on':
      return parentBased(always);
    case 'parentbased_always_off':
      return parentBased(never);
    case 'parentbased_traceidratio':
      return parentBased(ratio(share));
  }
};
