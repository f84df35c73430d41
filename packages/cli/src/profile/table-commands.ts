// `spanline profile top` and `diff`: who used the CPU, as a table, and which labels take more of it than before, beyond noise.

import { diff, type LabelChange, type LabelShare, labelKeys, type TopTable, top, WHOLE_LABEL } from '@spanline/profile';
import { shortText } from 'spanline/internal/base';
import { type Commands, command } from '../command.js';
import { ExitCode, endWith } from '../exit-code.js';
import { glyphsOf } from '../glyphs.js';
import { JSON_OPTION, share, wholeNumber } from '../options.js';
import { columns, note, printAnswer } from '../output.js';
import { readProfileFile, SAMPLE_TYPE } from './profile-files.js';

const NS_PER_MS = 1e6;

/** `12.3 %`. */
export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** `+1.2`, in percentage points. */
export const points = (change: number): string => `${change >= 0 ? '+' : ''}${(change * 100).toFixed(1)}`;

/** `12.3 ms`. */
export const milliseconds = (ns: number): string => {
  const ms = ns / NS_PER_MS;
  return `${ms >= 100 ? Math.round(ms) : Number(ms.toPrecision(3))} ms`;
};

/** `± 1.2 ms`. */
export const plusMinus = (ns: number): string => `${glyphsOf().plusMinus} ${milliseconds(ns)}`;

const MAX_CHARACTERS = 100;

/** A label's value in a table; what has none is said so. */
export const nameOf = (value: string): string => {
  if (value === '') return '(none)';
  return shortText(value, MAX_CHARACTERS, glyphsOf().more);
};

const shareRow = ({ value, rank, share, low, high, cpuNs, stderrNs, samples }: LabelShare): string[] => [
  String(rank),
  nameOf(value),
  percent(share),
  `${percent(low)} - ${percent(high)}`,
  milliseconds(cpuNs),
  plusMinus(stderrNs),
  String(samples),
];

/** Keys listed for a user who asks for a missing one. */
const MAX_KEYS = 20;

const topText = (table: TopTable): string => {
  const { rows, omitted, cpuNs, samples, gcNs, durationNs, unit, measure } = table;
  const head = ['rank', nameOf(table.by), 'share', '95 % interval', nameOf(measure ?? 'cpu'), 'error', 'samples'];
  const more = omitted === 0 ? '' : `, ${omitted} more rows (--limit)`;
  const measured = unit === 'cpu' ? 'measured' : 'estimated from samples';
  return (
    columns(head, rows.map(shareRow), 'rlrrrrr') +
    `${milliseconds(cpuNs)} of ${measure === undefined ? 'CPU time' : `${nameOf(measure)}, no CPU time,`} (${measured}) in ${samples} samples over ${milliseconds(durationNs)}; ` +
    `garbage collection ${milliseconds(gcNs)}${more}\n`
  );
};

const changeRow = ({ value, before, after, change, low, high, pValue, verdict }: LabelChange): string[] => [
  nameOf(value),
  percent(before),
  percent(after),
  points(change),
  `${points(low)} to ${points(high)}`,
  pValue < 0.001 ? pValue.toExponential(1) : pValue.toFixed(3),
  verdict,
];

const BY = [
  '--by <key>',
  `label key, such as query; "${WHOLE_LABEL}" is all labels of a sample together`,
  undefined,
  WHOLE_LABEL,
] as const;

export const commands = {
  top: command({
    words: '<file>',
    what: 'CPU by label: share with its 95 % confidence interval, CPU time, samples',
    options: {
      by: BY,
      limit: ['--limit <rows>', 'rows at most', wholeNumber(1), 30],
      sampleType: SAMPLE_TYPE,
      json: JSON_OPTION,
    },
    help: `
The file is pprof, .cpuprofile or folded stacks; - reads standard input. Labels of one rank are within noise of each other.

Examples:
  $ spanline profile top cpu.pb.gz --by query
  $ spanline profile top cpu.pb.gz --by tenant --limit 10 --json

Exit codes: 0 done, 2 wrong usage, 3 the file cannot be read.`,
    run: async ({ by, limit, sampleType, json }, file: string) => {
      const read = await readProfileFile(file, { sampleType });
      const table = top(read, { by, limit });
      const keys = labelKeys(read);
      printAnswer(json, { ...table, keys }, topText(table));
      if (!json && by !== WHOLE_LABEL && !keys.includes(by)) {
        const some = keys.slice(0, MAX_KEYS).map(nameOf).join(', ') || 'none';
        note(`no sample has the label ${nameOf(by)}; there are: ${some}${keys.length > MAX_KEYS ? ', ...' : ''}`);
      }
    },
  }),

  diff: command({
    words: '<before> <after>',
    what: 'compare two profiles by label: whose share of the CPU changed beyond noise',
    options: {
      by: BY,
      minEffect: ['--min-effect <share>', 'smallest change of a share that counts', share, 0.01],
      all: ['--all', 'list unchanged labels too'],
      sampleType: SAMPLE_TYPE,
      json: JSON_OPTION,
    },
    help: `
Shares are compared, not times: the profiles may differ in length and load. p-values are corrected for the number of labels.

Examples:
  $ spanline profile diff before.pb.gz after.pb.gz --by query
  $ spanline profile diff monday.pb.gz today.pb.gz --by tenant --min-effect 5%

Exit codes: 0 no label takes more, 1 some do, 2 wrong usage, 3 a file cannot be read.`,
    run: async (options, beforeFile: string, afterFile: string) => {
      const { by, minEffect, all, sampleType, json } = options;
      const before = await readProfileFile(beforeFile, { sampleType });
      const after = await readProfileFile(afterFile, { sampleType });
      const changes = diff(before, after, { by, minEffect });
      const more = changes.filter(({ verdict }) => verdict === 'more').length;
      const shown = all ? changes : changes.filter(({ verdict }) => verdict !== 'same');
      const head = [nameOf(by), 'before', 'after', 'points', '95 % interval', 'p', 'verdict'];
      const table = columns(head, shown.map(changeRow), 'lrrrrrl');
      const text = `${table}${changes.length} labels, ${shown.length} shown, ${more} take more\n`;
      printAnswer(json, { by, labels: changes.length, more, changes: shown }, text);
      if (more > 0) endWith(ExitCode.findings);
    },
  }),
} satisfies Commands;
