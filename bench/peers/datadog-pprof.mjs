// Datadog's profiler as benchmarks use it. It stands here so that imports resolve to this folder's node_modules.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

export const { time } = require('@datadog/pprof');
export const subject = `datadog-pprof@${require('@datadog/pprof/package.json').version}`;
