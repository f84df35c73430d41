// Samples as V8 gives them, made at given times: for tests of who gets them.

import type { RawSamples } from '../../src/cpu-profiler.js';
import { SampleKind } from '../../src/index.js';
import { ROOT_ONLY } from './root-only.js';

/** Samples of JavaScript at these microseconds, with these trampolines on their stacks. */
export const rawSamplesAt = (us: readonly number[], trampolines: readonly (readonly number[])[] = []): RawSamples => ({
  count: us.length,
  startUs: us[0],
  endUs: us[us.length - 1],
  us: Float64Array.from(us),
  node: new Uint32Array(us.length),
  kind: new Uint8Array(us.length).fill(SampleKind.js),
  trampolines: (i) => trampolines[i] ?? [],
  nodes: ROOT_ONLY,
});
