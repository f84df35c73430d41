// `spanline trace ls` and `spanline trace search`: summaries of traces, the newest first. No span is read for them.

import type { TraceSearch } from '@spanline/archive';
import { withArchive } from '../archive-session.js';
import { type Commands, command } from '../command.js';
import { ExitCode, endWith } from '../exit-code.js';
import { READ_ARCHIVE, type ReadOptions, wholeNumber } from '../options.js';
import { note, writeOut } from '../output.js';
import { MAX_LIMIT, SEARCH, searchOf } from './search-options.js';
import { summaryJson, summaryRows } from './summaries.js';

const DEFAULT_LIMIT = 20;

type ListOptions = ReadOptions & { readonly json?: boolean };

/** Prints what is found and gives the number of traces. */
const list = (options: ListOptions, search: TraceSearch): Promise<number> => {
  const { limit = DEFAULT_LIMIT } = search;
  return withArchive(options, async (archive, signal) => {
    // One more tells whether there are more.
    const found = await archive.search({ ...search, limit: Math.min(limit + 1, MAX_LIMIT) }, { signal });
    const shown = found.slice(0, limit);
    if (options.json) for (const summary of shown) await writeOut(`${JSON.stringify(summaryJson(summary))}\n`);
    else await writeOut(summaryRows(shown));
    if (found.length > limit) note(`there are more than ${limit}; --limit shows more, up to ${MAX_LIMIT}`);
    return shown.length;
  });
};

/** Whether nothing kept the answer from being one of everything. */
const isOfAll = (): boolean => process.exitCode !== ExitCode.store;

const ROWS = `
A "?" behind the number of spans: a parent is not in the archive. The size is what the spans take in memory, about.
--json prints one object a line, with times in nanoseconds.`;

export const commands = {
  ls: command({
    what: 'the newest traces',
    options: {
      ...READ_ARCHIVE,
      limit: ['-n, --limit <traces>', 'no more than this', wholeNumber(1, MAX_LIMIT), DEFAULT_LIMIT],
      json: ['--json', 'print JSON, one object a line'],
    },
    help: `${ROWS}

Examples:
  $ spanline trace ls --archive ./traces
  $ spanline trace ls -a ./traces --limit 1000 --json | jq -r .name | sort | uniq -c

Exit codes: 0 done, 2 wrong usage, 3 the archive or a part of it cannot be read.`,
    run: async (options) => {
      if ((await list(options, { limit: options.limit })) > 0) return;
      note(isOfAll() ? 'the archive has no traces' : 'there are no traces in what can be read');
    },
  }),

  search: command({
    what: 'traces that meet all conditions, the newest first; 20 unless --limit is given',
    options: { ...READ_ARCHIVE, ...SEARCH, json: ['--json', 'print JSON, one object a line'] },
    help: `${ROWS}

Service, name, status and properties must all hold for one span of the trace; values of properties are compared as text.

Examples:
  $ spanline trace search -a ./traces --service shop --status error --from 1h
  $ spanline trace search -a ./traces --name 'GET /cart' --min 250ms --limit 5
  $ spanline trace search -a ./traces --property http.response.status_code=500 --json

Exit codes: 0 found, 1 nothing meets the conditions, 2 wrong usage, 3 the archive or a part of it cannot be read.`,
    run: async (options) => {
      const count = await list(options, searchOf(options));
      if (count > 0) return;
      note(isOfAll() ? 'no trace meets the conditions' : 'no trace in what can be read meets the conditions');
      endWith(ExitCode.findings);
    },
  }),
} satisfies Commands;
