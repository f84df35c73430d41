// The command line's tree of commands. Those of a group, and what commands need to run, are loaded when they are called.
// Must not run anything: `command-line.ts` does, and tests build the program without running it.
import { Command } from 'commander';
import { commands } from './commands.js';
import { addNamed, GROUPS, wordsOf } from './groups.js';
import { description, version } from './package.js';

const EXAMPLES = `
Examples:
  $ spanline clock                 which clock spans are stamped with, and what a read costs here
  $ spanline clock --json          the same for a program
  $ spanline run --archive ./traces -- node app.js   trace a service, and keep its traces
  $ spanline trace ls -a ./traces  the newest traces of an archive
  $ spanline stalls -a ./traces    who stalled the event loop, and who waited
  $ spanline serve -a ./traces     a Jaeger API to read it, OTLP to send to it
  $ spanline ui -a ./traces        the local page: traces, profiles, history
  $ spanline snapshot 4711 -o last.flight   the last minute of a process that runs
  $ spanline perf ingest -s ./perf history.jsonl.gz   write benchmark results into a store
  $ spanline perf query -s ./perf 'test=~span'        query it
  $ spanline bench run -f bench.jsonl -- node bench.js  keep the figures of a benchmark
  $ spanline profile run -- node app.js               profile a program
  $ spanline profile top cpu.pb.gz --by query         CPU by query
  $ spanline graph build --from-git . -o commits.graph   index a history, then ask it
  $ spanline help perf             a command's options

Exit codes: 0 done, 1 done with findings or nothing found, 2 wrong usage, 3 a store or file failed, 130 Ctrl-C.
NO_COLOR=1 turns colours off; in a pipe there are none.`;

const { clock, run, ...others } = commands;
const { trace, archive, ...groups } = GROUPS;

/** In the order of the help; a row that is not named here has its place by itself. */
const TABLE = { clock, run, trace, archive, ...others, ...groups };

/** The whole program, or what is needed of it to parse `args`; errors of usage are thrown, not exited with. */
export async function createProgram(args?: readonly string[]): Promise<Command> {
  const words = args && wordsOf(args);
  const program = new Command('spanline')
    .description(description)
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .addHelpText('after', EXAMPLES)
    .enablePositionalOptions()
    .showHelpAfterError('(spanline --help lists the commands)')
    .exitOverride();
  for (const [name, row] of Object.entries(TABLE)) await addNamed(program, name, row, words);
  return program;
}
