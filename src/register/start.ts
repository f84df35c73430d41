// Puts tracing of a service together as its environment asks. It runs before the service's own code and must neither throw into it, nor
// keep its process alive, nor change how it ends.
import { configure, defaultCollector, setReporter } from '../collector/default-collector.js';
import '../flight-recorder/install.js';
import { flushOnSignals } from '../collector/exit.js';
import type { DatabaseOptions } from '../instrument/db/database.js';
import { databaseNames, instrument, instrumentationNames } from '../instrument/instrument.js';
import { type Propagator, w3c } from '../instrument/propagator.js';
import { reportUntraced } from '../instrument/untraced.js';
import { UNTRACED } from '../instrument/versions.js';
import { detectResource } from '../otel/detect-resource.js';
import { registerApi } from './api.js';
import { keepTimeline, openArchive, sealAtEnd } from './archive.js';
import { Log } from './log.js';
import { startMetricsOf } from './metrics.js';
import { startOfficial, tracedByOfficial } from './official.js';
import { makeReporters } from './reporters.js';
import { readSettings, type Settings, samplerOf } from './settings.js';

const configureCollector = ({ bounds, sampler, samplerShare }: Settings): void =>
  configure({ ...bounds, sampler: samplerOf(sampler, samplerShare), resourceAttributes: detectResource() });

const NONE: Propagator = { extract: () => undefined, inject() {} };

/** What the program records and sends through OpenTelemetry's API is ours too; gives how contexts travel. */
const startApi = (settings: Settings, log: Log): Propagator => {
  try {
    return registerApi(settings, log);
  } catch (error) {
    log.error(`OpenTelemetry's API is not recorded: ${(error as Error).message}`);
    return settings.propagators.every((name) => name === 'none') ? NONE : w3c;
  }
};

/** Gives those that are on. Names that others have and we have not, such as those of OpenTelemetry's packages, are not ours to judge. */
const startInstrumentations = (settings: Settings, propagator: Propagator): readonly string[] => {
  const { enabled, disabled, databasesNeedParent } = settings;
  // Undefined: as by default.
  const isOn = (name: string): boolean | undefined =>
    !disabled.includes(name) && (enabled?.includes(name) ?? undefined);
  const optionOf = (name: string): boolean | DatabaseOptions | undefined =>
    databasesNeedParent && databaseNames.includes(name) && isOn(name) !== false ? { requireParent: true } : isOn(name);
  instrument({
    ...Object.fromEntries(instrumentationNames.map((name) => [name, optionOf(name)])),
    propagator,
  });
  return instrumentationNames.filter((name) => isOn(name) !== false);
};

/** Reporters as soon as they are there: traces that finish earlier wait for them in the collector, within its bounds. */
const startReporters = async ({ exporters, archive, spool }: Settings, log: Log): Promise<void> => {
  const reporters = await makeReporters(exporters, log);
  if (archive !== undefined) {
    const opened = await openArchive(archive, spool, log);
    if (opened !== undefined) {
      const { archive, reporter, isInBucket } = opened;
      reporters.push(reporter);
      if (isInBucket) sealAtEnd(archive, () => reporter.stats().archivedSpans, defaultCollector());
      // Of the process, which its main thread looks at for all.
      if (process.getBuiltinModule('node:worker_threads').isMainThread) {
        const { monitorEventLoop } = await import('../flight-recorder/timeline/timeline.js');
        keepTimeline(opened.archive, monitorEventLoop(), defaultCollector().life.resource);
      }
    }
  }
  if (reporters.length > 0) setReporter(reporters);
};

/** A directory that cannot be written to must not keep the service from starting. */
const startRecorder = ({ flightRecorder }: Settings, log: Log): void => {
  if (flightRecorder === undefined) return;
  try {
    configure({ flightRecorder });
  } catch (error) {
    log.error(`the flight recorder is off: ${(error as Error).message}`);
  }
};

/**
 * A worker gets what its process gets, but for the flight recorder: its files, its signals and its timeline are those of the main thread, and workers that
 * each take as much memory are what nobody has asked for.
 */
const settingsOfThread = (settings: Settings, log: Log): Settings => {
  if (process.getBuiltinModule('node:worker_threads').isMainThread || settings.flightRecorder === undefined)
    return settings;
  log.debug('the flight recorder is that of the main thread: a worker that wants one calls configure');
  return { ...settings, flightRecorder: undefined };
};

/** Start tracing as `env` asks. Resolves when the reporters are there. */
export const start = async (env: NodeJS.ProcessEnv = process.env): Promise<void> => {
  const warnings: string[] = [];
  const given = readSettings(env, (message) => warnings.push(message));
  const log = new Log(given.level);
  const settings = settingsOfThread(given, log);
  for (const message of warnings) log.warn(message);
  if (settings.isDisabled) {
    configure({ disabled: true });
    return;
  }
  configureCollector(settings);
  startRecorder(settings, log);
  // First: what comes before it is not measured.
  const measuring = startMetricsOf(settings, log);
  // At once: a program behind `--require` begins before anything asynchronous is done.
  const names = startInstrumentations(settings, startApi(settings, log));
  flushOnSignals(defaultCollector());
  const started = startOfficial(settings, log);
  // Once for all threads.
  if (process.getBuiltinModule('node:worker_threads').isMainThread) {
    const others = tracedByOfficial(started);
    const untraced = Object.keys(UNTRACED).filter((name) => !settings.disabled.includes(name));
    reportUntraced(
      [...names, ...untraced].filter((name) => !others.includes(name)),
      log,
    );
  }
  if (started.length > 0) log.debug(`also traced: ${started.join(', ')}`);
  await measuring;
  await startReporters(settings, log);
};
