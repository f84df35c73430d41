// OpenTelemetry's SDK with the official instrumentations, as something to load into a service; and where services find the libraries of tests.
import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import '../../instrument/libraries.js';
import { out } from '../../support/child.js';

const libraries = fileURLToPath(new URL('../../instrument/libraries/node_modules', import.meta.url));
const folder = join(out, 'services');

/** The program `name` of `test/register/comparison`, where it finds the libraries that tests trace. */
export const service = (name: string): string => {
  if (!existsSync(folder)) {
    mkdirSync(folder);
    symlinkSync(libraries, join(folder, 'node_modules'));
  }
  const file = fileURLToPath(new URL(`../comparison/${name}`, import.meta.url));
  cpSync(file, join(folder, basename(file)));
  return join(folder, basename(file));
};

/** Options of Node by which a service is traced, by either. */
export const tracedBy = {
  spanline: (): readonly string[] => ['--import', 'spanline/register'],
  official: (): readonly string[] => ['--require', service('official.cjs')],
} as const;

/** Both send to this receiver, of the same conventions; what belongs to no library of either is off. */
export const tracedTo = (url: string): Readonly<Record<string, string>> => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_SEMCONV_STABILITY_OPT_IN: 'http,database',
  OTEL_NODE_DISABLED_INSTRUMENTATIONS: 'dns',
});
