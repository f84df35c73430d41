// Puts tracing of a service together as its environment asks. It runs before the service's own code and must neither throw into it, nor
// keep its process alive, nor change how it ends.
import { configure, defaultCollector, setReporter } from '../collector/default-collector.js';
import { flushOnSignals } from '../collector/exit.js';
import { instrument, instrumentationNames } from '../instrument/instrument.js';
import { Log } from './log.js';
import { makeReporters, openArchive } from './reporters.js';
import { samplerOf } from './sampler-of.js';
import { readSettings, type Settings } from './settings.js';

const configureCollector = ({ bounds, sampler, samplerShare }: Settings): void =>
  configure({ ...bounds, sampler: samplerOf(sampler, samplerShare) });

/** Names that others have and we have not, such as those of OpenTelemetry's packages, are not ours to judge. */
const startInstrumentations = ({ enabled, disabled }: Settings): void => {
  // Undefined: as by default.
  const isOn = (name: string): boolean | undefined =>
    !disabled.includes(name) && (enabled?.includes(name) ?? undefined);
  instrument(Object.fromEntries(instrumentationNames.map((name) => [name, isOn(name)])));
};

/** Reporters as soon as they are there: traces that finish earlier wait for them in the collector, within its bounds. */
const startReporters = async ({ exporters, archive }: Settings, log: Log): Promise<void> => {
  const reporters = makeReporters(exporters, log);
  if (archive !== undefined) {
    const opened = await openArchive(archive, log);
    if (opened !== undefined) reporters.push(opened.reporter);
  }
  if (reporters.length > 0) setReporter(reporters);
};

/** Start tracing as `env` asks. Resolves when the reporters are there. */
export const start = async (env: NodeJS.ProcessEnv = process.env): Promise<void> => {
  const warnings: string[] = [];
  const settings = readSettings(env, (message) => warnings.push(message));
  const log = new Log(settings.level);
  for (const message of warnings) log.warn(message);
  if (settings.isDisabled) {
    configure({ disabled: true });
    return;
  }
  configureCollector(settings);
  startInstrumentations(settings);
  flushOnSignals(defaultCollector());
  await startReporters(settings, log);
};
