// `spanline ui`: what is said of the page. Nothing runs here.
import type { Command } from 'commander';
import { collect, wholeNumber, withSources } from './options.js';
import type { UiOptions } from './serve-ui.js';

/** Register the command. */
export const registerUi = (program: Command): void => {
  withSources(
    program
      .command('ui')
      .description('a local page to look at traces, profiles and the history of benchmarks')
      .option('-a, --archive <dir>', 'directory of an archive of traces, there or to come (or SPANLINE_ARCHIVE)'),
  )
    .option('--snapshot <file>', 'a snapshot of a flight recorder to look at; repeatable', collect, [])
    .option('--snapshots <dir>', 'where snapshots taken on the page are kept (default: a temporary directory)')
    .option('--host <address>', 'address to listen on; any but 127.0.0.1 and ::1 needs a token', '127.0.0.1')
    .option('-p, --port <number>', 'port; 0 for a free one', wholeNumber(0, 65_535), 0)
    .option('--token <token>', 'what the page must know to read; better as SPANLINE_TOKEN')
    .option('--allow-host <name>', 'a further name requests may use for this machine; repeatable', collect, [])
    .option('--no-open', 'do not open the browser')
    .option('--json', 'print where it listens as JSON')
    .addHelpText(
      'after',
      `
The page loads nothing from elsewhere and sends nothing anywhere. In a pipe no browser is opened.

Examples:
  $ spanline ui --archive ./traces
  $ spanline ui --archive ./traces --profiles ./profiles --store ./perf
  $ spanline ui --history bench/history
  $ spanline ui --archive ./traces --no-open --port 8080
  $ spanline ui --snapshot last.flight

Exit codes: 0 stopped, 2 wrong usage, 3 a source or the port cannot be used.`,
    )
    .action(async (options: UiOptions) => (await import('./serve-ui.js')).serveUi(options));
};
