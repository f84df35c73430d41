// The reporters that the environment names. A wrong variable is warned of and left out; what cannot be made at all is an error line and no
// reporter: tracing must never keep a service from starting.
import { OptionError } from '../base/errors.js';
import type { Reporter } from '../collector/reporter.js';
import { OtlpReporter } from '../exporters/otlp.js';
import type { Log } from './log.js';
import type { ExporterName } from './settings.js';

/** What `make` makes of the variables, faults left out one by one, each with a warning. */
export const withoutFaults = <T>(make: (env: NodeJS.ProcessEnv) => T, log: Log): T => {
  const env = { ...process.env };
  for (;;) {
    try {
      return make(env);
    } catch (error) {
      const name = error instanceof OptionError ? /^OTEL_\w+/.exec(error.message)?.[0] : undefined;
      if (name === undefined || env[name] === undefined) throw error;
      log.warn(`${(error as Error).message} The default is used.`);
      delete env[name];
    }
  }
};

const makeOne = async (name: ExporterName, log: Log): Promise<Reporter> => {
  switch (name) {
    case 'console':
      return new (await import('../exporters/console.js')).ConsoleReporter();
    case 'jaeger':
      return new (await import('../exporters/jaeger.js')).JaegerReporter();
    case 'otlp':
      return withoutFaults((env) => new OtlpReporter({}, env, (message) => log.warn(message)), log);
  }
};

/** One for each name. */
export const makeReporters = async (names: readonly ExporterName[], log: Log): Promise<Reporter[]> => {
  const reporters: Reporter[] = [];
  for (const name of names) {
    try {
      reporters.push(await makeOne(name, log));
    } catch (error) {
      log.error(`no traces go to ${name}: ${(error as Error).message}`);
    }
  }
  return reporters;
};
