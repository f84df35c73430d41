// `spanline perf compare`: what changed between two commits.

import { type ComparedSeries, compareCommits } from '@spanline/tracedb';
import { type Commands, command } from '../command.js';
import { ExitCode, endWith } from '../exit-code.js';
import { share } from '../options.js';
import { columns, digits, printAnswer, signedPercent } from '../output.js';
import { STORE, withPerf } from './perf-options.js';
import { noteNothingInNewest } from './selected-traces.js';

const row = ({ key, before, after, change, verdict }: ComparedSeries): string[] => [
  key,
  digits(before, 7),
  digits(after, 7),
  signedPercent(change),
  verdict,
];

export const commands = {
  compare: command({
    words: '<before> <after>',
    what: 'compare the values of two commits (hashes or unique beginnings of them)',
    options: {
      ...STORE,
      query: ['-q, --query <query>', 'only the series this selects', undefined, ''],
      minEffect: ['--min-effect <share>', 'smallest relative change that counts, such as 5%', share, 0.05],
      all: ['--all', 'list unchanged series too'],
    },
    help: `
Better or worse follows from the unit of a series (its param "unit" or "units"); "improvement_direction" goes before.

Examples:
  $ spanline perf compare -s ./perf 5ce32c0 9122561
  $ spanline perf compare -s ./perf main pull-17 --query 'suite=Benchmark' --min-effect 10%

Exit codes: 0 nothing is worse, 1 something is, or there is no such commit or series, 2 wrong usage, 3 the store failed.`,
    run: ({ query, minEffect, all, ...options }, before: string, after: string) =>
      withPerf(options, async (session) => {
        const { perf: store, config, call } = session;
        const old = await store.commits.find(before, call);
        const now = await store.commits.find(after, call);
        const directions = Object.fromEntries(config?.directions ?? []);
        const compared = await compareCommits(store, old.number, now.number, query, { ...call, minEffect, directions });
        const worse = compared.filter(({ verdict }) => verdict === 'worse').length;
        const shown = all ? compared : compared.filter(({ verdict }) => verdict !== 'same');
        const answer = { before: old, after: now, compared: compared.length, worse, series: shown };
        const table = columns(['series', 'before', 'after', 'change', 'verdict'], shown.map(row), 'lrrrl');
        const text = `${table}${compared.length} series at both commits, ${shown.length} shown, ${worse} worse\n`;
        printAnswer(options.json, answer, text);
        if (worse > 0) endWith(ExitCode.findings);
        if (compared.length === 0 && query !== '') await noteNothingInNewest(session, query);
      }),
  }),
} satisfies Commands;
