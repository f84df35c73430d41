// What a gate found, as markdown for a pull request. It must never be read as surer than the gate was: what could not be told is said first, and
// every change has its interval.
import type { JudgedSeries } from '../judge/judge.js';
import type { BesideSeries, GateResult } from './gate.js';
import type { GitCommit } from './git.js';

/** What a report tells beside the result. */
export interface ReportFacts {
  readonly base: GitCommit;
  readonly head: GitCommit;
  readonly command: readonly string[];
  readonly minEffect: number;
  readonly alpha: number;
  readonly machine: string;
  readonly node: string;
}

/** Two digits of a share in percent, with its sign. */
export const percentText = (share: number): string => {
  const percent = share * 100;
  const digits = Math.abs(percent) < 10 ? 1 : 0;
  return `${percent >= 0 ? '+' : ''}${percent.toFixed(digits)} %`;
};

/** `+10 % (+8.1 to +12 %)`. */
export const changeText = ({ change, low, high }: BesideSeries): string =>
  `${percentText(change)} (${percentText(low).replace(' %', '')} to ${percentText(high)})`;

const HEADLINES: Readonly<Record<GateResult['outcome'], string>> = {
  worse: 'Slower',
  fine: 'No slower',
  unsure: 'Not sure',
};

/** A sentence that says how the gate ended. */
export const outcomeText = ({ outcome, judged }: GateResult, { minEffect }: Pick<ReportFacts, 'minEffect'>): string => {
  const count = (judgement: JudgedSeries['judgement']): number =>
    judged.filter((one) => one.judgement === judgement).length;
  const min = percentText(minEffect).slice(1);
  if (outcome === 'worse') return `${count('worse')} of ${judged.length} are worse by ${min} or more`;
  if (outcome === 'fine') return `none of ${judged.length} is worse by ${min} or more`;
  return `of ${count('unsure')} of ${judged.length} it is not known whether they are worse by ${min} or more; a larger budget may`;
};

/** A cell of a table may hold what a benchmark is named. */
const cell = (text: string): string => text.replace(/[\\|`<>*_]/g, (mark) => `\\${mark}`).replace(/\s+/g, ' ');

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const commitText = ({ hash, subject }: GitCommit): string => `\`${hash.slice(0, 10)}\` ${cell(subject)}`;

/** The report. */
export const gateReport = (result: GateResult, facts: ReportFacts): string => {
  const { judged, beside, leftOut, instructions, rounds, looks, spentMs } = result;
  const { base, head, command, alpha, machine, node } = facts;
  const order: readonly JudgedSeries['judgement'][] = ['worse', 'unsure', 'changed', 'better', 'fine'];
  const sorted = judged.toSorted((a, b) => order.indexOf(a.judgement) - order.indexOf(b.judgement));
  const others = [
    ...beside.map((one) => row(cell(one.key), changeText(one), 'not judged')),
    ...(instructions === undefined
      ? []
      : [
          row(
            'instructions under valgrind, one run',
            percentText(instructions.head / instructions.base - 1),
            'not judged',
          ),
        ]),
  ];
  return [
    `## ${HEADLINES[result.outcome]}: ${outcomeText(result, facts)}`,
    '',
    row('series', 'head against base', 'judged'),
    row('---', '---', '---'),
    ...sorted.map((one) => row(cell(one.key), changeText(one), one.judgement)),
    ...others,
    '',
    `Base ${commitText(base)}, head ${commitText(head)}. \`${command.join(' ').replaceAll('`', "'")}\`, ${rounds} rounds of either by turns in ${Math.round(spentMs / 1000)} s,`,
    `judged ${looks === 1 ? 'once' : `${looks} times`}; false alarms at most ${percentText(alpha).slice(1)} of all gates; intervals of 95 %. Node ${node}, ${cell(machine)}.`,
    ...(leftOut.length === 0
      ? []
      : ['', `Not in all rounds of both, or not above 0: ${leftOut.map(cell).join(', ')}.`]),
    '',
  ].join('\n');
};
