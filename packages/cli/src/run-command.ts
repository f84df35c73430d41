// `spanline run`: starts a service with `spanline/register` in it. The service behaves as it would alone: its input, output, signals and exit
// code are its own.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { note } from './output.js';

interface RunOptions {
  readonly archive?: string;
  readonly service?: string;
  readonly exporter?: string;
}

/** What the options say in OpenTelemetry's words; the environment stands where an option is missing. */
const variablesOf = ({ archive, service, exporter }: RunOptions): NodeJS.ProcessEnv => ({
  ...(archive !== undefined && { SPANLINE_ARCHIVE: resolve(archive) }),
  ...(service !== undefined && { OTEL_SERVICE_NAME: service }),
  ...(exporter !== undefined && { OTEL_TRACES_EXPORTER: exporter }),
});

/** Register the command. */
export const registerRun = (program: Command): void => {
  program
    .command('run')
    .argument('<command...>', 'program and its arguments, after --')
    .passThroughOptions()
    .description('run a service with tracing, unchanged')
    .option(
      '-a, --archive <dir>',
      'keep the traces in this directory, and who had the event loop (or SPANLINE_ARCHIVE)',
    )
    .option('-s, --service <name>', 'name of the service (or OTEL_SERVICE_NAME)')
    .addOption(
      new Option(
        '-e, --exporter <names>',
        'otlp, jaeger, console or none, with commas between (or OTEL_TRACES_EXPORTER; default: otlp, with --archive none)',
      ),
    )
    .addHelpText(
      'after',
      `
Every Node process that the program starts is traced, as by node --import spanline/register. OpenTelemetry's environment variables say the
rest. The exit code is that of the program.

Examples:
  $ spanline run --archive ./traces -- node app.js     then: spanline trace ls -a ./traces, spanline stalls -a ./traces
  $ spanline run -e console -- node app.js
  $ OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318 spanline run -s shop -- npm start

Exit codes: those of the program; 2 wrong usage, 3 it could not be started.`,
    )
    .action(async (command: string[], options: RunOptions) => {
      const { ownManifest, registerUrl, runProgram, withPreload } = await import('./run-program.js');
      // Beside it register finds what it takes when it is there, of the same version: the program may have none of it, or another one.
      const environment = withPreload(registerUrl(), { ...variablesOf(options), SPANLINE_RUN: ownManifest });
      process.exitCode = await runProgram(command, environment);
      const { SPANLINE_ARCHIVE: directory } = environment;
      if (!directory) return;
      if (existsSync(directory)) note(`traces are in ${directory}; see: spanline trace ls -a ${directory}`);
      else note(`no Node process of ${command[0]} kept a trace in ${directory}`);
    });
};
