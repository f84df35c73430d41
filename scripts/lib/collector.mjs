// Finds an OpenTelemetry Collector, which tests of metrics send to: the Collector's own parts, OTLP in and OTLP over HTTP out.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isProgram, namedBy } from './programs.mjs';

/** The version that is built: collector/go.mod has it, and what it needs. */
export const VERSION = 'v0.140.0';

/** Where build-collector.mjs puts it: outside the checkout, since it is one for a machine. */
export const BUILT = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  `spanline/collector-${VERSION}/collector`,
);

/** How to get one, in one line. */
export const HOW_TO_GET =
  'no OpenTelemetry Collector is here. With Go 1.25 or later on PATH it is built in some minutes, once a machine: node scripts/build-collector.mjs';

/**
 * The path of the one built here before, or named in OTELCOL_BIN, which has the receiver `otlp` and the exporter `otlphttp`; undefined when there is none.
 * @returns {string | undefined}
 */
export const findCollector = () => namedBy('OTELCOL_BIN') ?? (isProgram(BUILT) ? BUILT : undefined);
