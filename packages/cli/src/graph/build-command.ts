// `spanline graph build`: a graph file out of lines of keys, or out of the commits of a git repository.

import { type BuildStats, CompactGraphBuilder, CycleError, DuplicateKeyError, GraphError } from '@spanline/graph';
import { type Commands, command, REQUIRED } from '../command.js';
import { wrongUsage } from '../exit-code.js';
import { JSON_OPTION, wholeNumber } from '../options.js';
import { columns, Progress, printAnswer } from '../output.js';
import { runGraphCommand } from './graph-session.js';
import { commitsOf, type InputNode, nodesOfFile } from './input-nodes.js';
import { hexBytes, KEY_FORM_NOTE, type KeyForm, keyText } from './key-form.js';

interface BuildOptions {
  readonly output: string;
  readonly fromGit?: string;
  readonly hex?: boolean;
  readonly order: 'child-first' | 'root-first';
  readonly cycles: 'refuse' | 'allow';
  readonly memory: number;
  readonly json?: boolean;
}

const MIB = 1024 * 1024;
/** Nodes between two looks at the clock and at Ctrl-C. */
const PROGRESS_NODES = 4096;
/** Keys of a cycle that are named. */
const MAX_CYCLE_KEYS = 20;

interface Input {
  readonly name: string;
  readonly nodes: AsyncIterable<InputNode>;
  readonly form: KeyForm;
}

const inputOf = (path: string | undefined, { fromGit, hex }: BuildOptions, signal: AbortSignal): Input => {
  if (fromGit !== undefined) {
    if (path !== undefined) throw wrongUsage('give a file or --from-git, not both');
    return { name: fromGit, nodes: commitsOf(fromGit, signal), form: 'hex' };
  }
  if (path === undefined) throw wrongUsage('what of? Give a file, - for standard input, or --from-git DIR');
  return { name: path === '-' ? 'standard input' : path, nodes: nodesOfFile(path, signal), form: hex ? 'hex' : 'text' };
};

/** Add what `input` has to `builder`; the number of nodes. */
const addNodes = async (builder: CompactGraphBuilder, input: Input, signal: AbortSignal): Promise<void> => {
  const { name, nodes, form } = input;
  const toBytes = form === 'hex' ? hexBytes : (word: string): Buffer => Buffer.from(word, 'latin1');
  using progress = new Progress();
  let count = 0;
  for await (const { line, words } of nodes) {
    try {
      const [key, ...parents] = words.map(toBytes);
      builder.add(0, key, undefined, [parents]);
    } catch (error) {
      if (!(error instanceof GraphError)) throw error;
      if (error instanceof DuplicateKeyError)
        throw wrongUsage(
          `${name}, line ${line}: the key ${keyText(toBytes(words[0]), form)} comes twice; write a node once`,
        );
      const isInput = ['BadKeyError', 'BadValueError', 'DuplicateKeyError'].includes(error.name);
      throw isInput ? wrongUsage(`${name}, line ${line}: ${error.message}`) : error;
    }
    if (++count % PROGRESS_NODES > 0) continue;
    progress.show(`${name}: ${count} nodes`);
    signal.throwIfAborted();
  }
};

const print = (path: string, stats: BuildStats, json: boolean | undefined): void => {
  const [{ nodeCount, ghostCount, edgeCount }] = stats.graphs;
  const { bytes, spilledBytes } = stats;
  const answer = { file: path, nodes: nodeCount, absent: ghostCount, references: edgeCount, bytes, spilledBytes };
  const perNode = nodeCount === 0 ? '' : (bytes / nodeCount).toFixed(1);
  const head = ['file', 'nodes', 'absent', 'references', 'bytes', 'bytes/node'];
  const row = [path, `${nodeCount}`, `${ghostCount}`, `${edgeCount}`, `${bytes}`, perNode];
  printAnswer(json, answer, columns(head, [row], 'lrrrrr'));
};

/** Cycles, and keys that come twice, are named as the input writes keys. */
const finish = async (builder: CompactGraphBuilder, form: KeyForm): Promise<BuildStats> => {
  try {
    return await builder.finish();
  } catch (error) {
    if (error instanceof DuplicateKeyError && error.key !== undefined)
      throw wrongUsage(`the key ${keyText(error.key, form)} comes twice; write a node once`);
    if (!(error instanceof CycleError) || error.cycle.length === 0) throw error;
    const keys = [...error.cycle, error.cycle[0]].map((key) => keyText(key, form));
    const shown = keys.length > MAX_CYCLE_KEYS ? [...keys.slice(0, MAX_CYCLE_KEYS), '...'] : keys;
    throw wrongUsage(`references go round in a circle: ${shown.join(' -> ')}; --cycles allow takes them`);
  }
};

export const commands = {
  build: command({
    words: '[file]',
    what: 'build a graph file from lines "key parent parent..." (- for standard input, gzip or not), or from git',
    options: {
      output: [
        '-o, --output <file>',
        'the graph file; an older one is replaced when the new one is complete',
        undefined,
        REQUIRED,
      ],
      fromGit: ['--from-git <dir>', 'the commits of all branches and tags of a repository, by the git command'],
      hex: ['--hex', 'keys are hexadecimal digits: kept as bytes, they take half the space'],
      order: [
        '--order <kind>',
        'a node before its parents, or behind them',
        ['child-first', 'root-first'],
        'child-first',
      ],
      cycles: ['--cycles <what>', 'what to do with a cycle', ['refuse', 'allow'], 'refuse'],
      memory: [
        '--memory <MiB>',
        'memory to use; what is beyond goes to a temporary file',
        wholeNumber(2, 1_000_000),
        256,
      ],
      json: JSON_OPTION,
    },
    help: `
Blank lines and lines that begin with # are passed over. A parent need not be a node itself. The same nodes give the same bytes,
in whatever order they come.

Examples:
  $ spanline graph build --from-git . -o commits.graph
  $ spanline graph build --hex -o history.graph history.txt.gz
  $ git log --all --format='%H %P' | spanline graph build --hex -o commits.graph -

Exit codes: 0 built, 2 wrong usage or a bad line, 3 a file cannot be read or written, or git failed.`,
    run: (options, path: string | undefined) =>
      runGraphCommand(async (signal) => {
        const { order, cycles, memory, output } = options;
        const input = inputOf(path, options, signal);
        const builder = new CompactGraphBuilder(output, {
          graphs: [{ referenceLists: 1, order, cycles, values: false }],
          memoryBytes: memory * MIB,
          notes: { [KEY_FORM_NOTE]: input.form },
        });
        try {
          await addNodes(builder, input, signal);
          print(output, await finish(builder, input.form), options.json);
        } finally {
          builder.abort();
        }
      }),
  }),
} satisfies Commands;
