// Builds an OpenTelemetry Collector where there is none, with the Go on PATH.
import { fileURLToPath } from 'node:url';
import { BUILT, findCollector, VERSION } from './collector.mjs';
import { ensureProgram } from './go-programs.mjs';

/** The path of one; undefined where there is neither one nor Go. */
export const ensureCollector = () =>
  ensureProgram('an OpenTelemetry Collector', findCollector, {
    version: VERSION,
    built: BUILT,
    folder: fileURLToPath(new URL('./collector', import.meta.url)),
    target: '.',
  });
