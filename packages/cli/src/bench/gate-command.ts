// `spanline bench gate`: whether a commit is slower than another, with an exit code for CI. It must leave no work tree behind, however it ends.

import { appendFileSync } from 'node:fs';
import { machineClass } from '@spanline/tracedb/bench-history';
import {
  changeText,
  type GateResult,
  gateReport,
  hasChanges,
  type JudgedKind,
  makeWorkTrees,
  outcomeText,
  percentText,
  type ReportFacts,
  runGate,
} from '@spanline/tracedb/internal';
import { InvalidArgumentError } from 'commander';
import { escapeText, runSync, writeWhole } from 'spanline/internal/base';
import { type Commands, command, options, REQUIRED, type Values } from '../command.js';
import { ExitCode, endWith, interruptible } from '../exit-code.js';
import { requireWritable } from '../files.js';
import { collect, duration, JSON_OPTION, share, wholeNumber } from '../options.js';
import { columns, note, Progress, printAnswer } from '../output.js';

const KINDS: readonly JudgedKind[] = ['figures', 'wall', 'cpu', 'instructions'];

const kinds = (text: string): readonly JudgedKind[] =>
  text.split(',').map((one) => {
    const kind = KINDS.find((name) => name === one.trim());
    if (kind === undefined) throw new InvalidArgumentError(`write some of ${KINDS.join(', ')} with commas between.`);
    return kind;
  });

const GATE = options({
  base: ['--base <commit>', 'what it is compared with, such as origin/main', undefined, REQUIRED],
  head: ['--head <commit>', 'what is judged', undefined, 'HEAD'],
  same: ['--same <path>', 'take this path from head for both, such as the benchmark; may be given again', collect, []],
  install: [
    '--install <line>',
    'shell: installs packages (default: those of the checkout where lock files agree, else npm ci)',
  ],
  build: ['--build <line>', 'shell: builds a work tree'],
  budget: ['--budget <time>', 'longest that rounds may take, such as 120s or 5m', duration, 120_000, '120s'],
  maxRounds: ['--max-rounds <number>', 'most rounds', wholeNumber(1, 300), 100],
  minEffect: ['--min-effect <share>', 'smallest loss that counts, such as 5%', share, 0.05],
  alpha: ['--alpha <share>', 'largest chance of a false alarm, of the whole gate', share, 0.05],
  judge: [
    '--judge <kinds>',
    'figures, wall, cpu, instructions (default: figures, where there are none cpu,wall)',
    kinds,
  ],
  instructions: [
    '--instructions <by>',
    'count instructions too, by perf or, once a commit, valgrind',
    ['perf', 'valgrind'],
  ],
  report: ['--report <file>', 'write a report in markdown; it is also appended to $GITHUB_STEP_SUMMARY'],
  strict: ['--strict', 'exit code 1 also where it is not sure'],
  json: JSON_OPTION,
});

type GateOptions = Values<typeof GATE>;

const textOf = (result: GateResult, facts: ReportFacts): string => {
  const rows = [
    ...result.judged.map((one) => [one.key, changeText(one), one.judgement]),
    ...result.beside.map((one) => [one.key, changeText(one), 'not judged']),
    ...(result.instructions === undefined
      ? []
      : [
          [
            'instructions under valgrind',
            percentText(result.instructions.head / result.instructions.base - 1),
            'one run',
          ],
        ]),
  ];
  const { hash } = facts.base;
  const table = columns(['series', `change since ${hash.slice(0, 10)}`, ''], rows, 'lrl');
  const leftOut =
    result.leftOut.length === 0
      ? ''
      : `not in all rounds of both, or not above 0: ${result.leftOut.map(escapeText).join(', ')}\n`;
  return `${table}${leftOut}${outcomeText(result, facts)}; ${result.rounds} rounds in ${Math.round(result.spentMs / 1000)} s\n`;
};

const writeReport = (text: string, file: string | undefined): void => {
  if (file !== undefined) runSync(writeWhole(file, [Buffer.from(text)], { takesSpecial: true, makesDirectory: true }));
  const { GITHUB_STEP_SUMMARY: summary } = process.env;
  if (summary) appendFileSync(summary, `${text}\n`);
};

const gate = (command: readonly string[], given: GateOptions): Promise<readonly [GateResult, ReportFacts]> =>
  interruptible(async (signal) => {
    const { base, head, same, install, build, budget, maxRounds, minEffect, alpha, judge, instructions } = given;
    const directory = process.cwd();
    if (head === 'HEAD' && (await hasChanges(directory, signal))) {
      note('the checkout has uncommitted changes, which are not measured; commit them first');
    }
    const progress = new Progress();
    const onProgress = (text: string): void => progress.show(text);
    const trees = await makeWorkTrees({ directory, base, head, same, install, build, signal, onStep: onProgress });
    try {
      const counter = instructions;
      const measuring = { trees, command, budgetMs: budget, maxRounds, minEffect, alpha, kinds: judge, counter };
      const result = await runGate({ ...measuring, signal, onProgress });
      const { version } = process;
      return [
        result,
        { ...trees, command, minEffect, alpha, machine: machineClass(), node: version.slice(1) },
      ] as const;
    } finally {
      progress.clear();
      await trees.remove();
    }
  }, '; the work trees are gone');

export const commands = {
  gate: command({
    words: [['<command...>', 'benchmark and its arguments, after --']],
    what: 'whether a commit is slower than another: measures both by turns until it is sure',
    options: GATE,
    help: `
Both commits are checked out into work trees, get the packages of the checkout where their lock files agree, and are built. Then the benchmark
runs in either by turns, each time in a process of its own. A series is worse when it is so beyond chance and by the minimum effect.

Examples:
  $ spanline bench gate --base origin/main -- node bench/encode.js
  $ spanline bench gate --base HEAD~1 --build 'npm run build' --same bench --budget 5m --report gate.md -- node bench/encode.js
  $ spanline bench gate --base v1.2.0 --min-effect 10% -- npx vitest bench --run --outputJson={out}
  $ spanline bench gate --base main --judge cpu -- node cli.js convert large.csv

Exit codes: 0 not worse, or not sure, 1 worse, or with --strict not sure, 2 wrong usage, 3 git, a build or the benchmark failed.`,
    run: async (options, command: string[]) => {
      if (options.report !== undefined) requireWritable(options.report);
      const [result, facts] = await gate(command, options);
      writeReport(gateReport(result, facts), options.report);
      const { base, head, machine, node } = facts;
      printAnswer(options.json, { ...result, base, head, machine, node }, textOf(result, facts));
      if (result.outcome === 'worse' || (options.strict && result.outcome === 'unsure')) endWith(ExitCode.findings);
    },
  }),
} satisfies Commands;
