// `spanline trace show`: one trace as a waterfall, or as a document with everything for a program.

import { breakdownNotes, breakdownsOf, type SpanBreakdown, summaryOf } from '@spanline/archive/internal';
import { otlpResourceSpans } from 'spanline/internal/formats';
import type { ArchivedSpan } from 'spanline/internal/record';
import { withArchive } from '../archive-session.js';
import { type Commands, command } from '../command.js';
import { ASCII, glyphsOf } from '../glyphs.js';
import { READ_ARCHIVE, wholeNumber } from '../options.js';
import { note, terminalWidth, wantsColour, writeOut } from '../output.js';
import { absentParents, drawWaterfall, MIN_WIDTH } from './draw-waterfall.js';
import { time } from './search-options.js';
import { findTraceId, summaryJson } from './summaries.js';

const MAX_SPANS = 1000;
const MAX_WIDTH = 1000;

const printJson = async (spans: readonly ArchivedSpan[], breakdowns: readonly SpanBreakdown[]): Promise<void> => {
  const facts = { ...summaryJson(summaryOf(spans)), absentParents: absentParents(spans), breakdowns };
  await writeOut(`${JSON.stringify(facts).slice(0, -1)},"resourceSpans":[`);
  for (const piece of otlpResourceSpans(spans)) await writeOut(piece);
  await writeOut(']}\n');
};

export const commands = {
  show: command({
    words: '<id>',
    what: 'one trace as a waterfall; the first digits of its id are enough when no other begins so',
    options: {
      ...READ_ARCHIVE,
      limit: ['-n, --limit <spans>', 'draw no more spans than this', wholeNumber(1), MAX_SPANS],
      from: [
        '--from <time>',
        'of a bucket and the first digits of an id: traces that are not over before, or 15m for as long ago',
        time,
      ],
      full: ['-f, --full', 'properties, links and ids of every span too'],
      width: [
        '-w, --width <columns>',
        'columns to draw in; those of the terminal, 100 in a pipe',
        wholeNumber(MIN_WIDTH, MAX_WIDTH),
      ],
      ascii: ['--ascii', 'draw with ASCII only; the default where the locale or TERM allows nothing else'],
      json: ['--json', 'print the summary and all spans as one OTLP/JSON document'],
    },
    help: `
A mark on a bar is an event, a cross an error. The parent of a span may be absent: it was never sent, or is not kept; what hangs
below it is drawn below a line that says so. Where the archive keeps the timeline of the process, a line below slow spans says where their time
went. NO_COLOR=1 turns colours off.

Examples:
  $ spanline trace show -a ./traces 4bf92f3577b34da6a3ce929d0e0e4736
  $ spanline trace show -a ./traces 4bf9 --full | less
  $ spanline trace show -a ./traces 4bf9 --json | jq '.resourceSpans[].scopeSpans[].spans[].name'

Exit codes: 0 shown, 1 there is no such trace, 2 wrong usage or several traces begin so, 3 the archive cannot be read.`,
    run: (options, id: string) =>
      withArchive(options, async (archive, signal) => {
        const spans = await archive.trace(await findTraceId(archive, id, signal, options.from), { signal });
        const breakdowns = await breakdownsOf(archive, spans, { signal, note });
        if (options.json) {
          await printJson(spans, breakdowns);
          return;
        }
        const text = drawWaterfall(summaryOf(spans), spans, {
          width: options.width ?? Math.min(terminalWidth(), MAX_WIDTH),
          glyphs: options.ascii ? ASCII : glyphsOf(),
          isColoured: wantsColour(),
          maxSpans: options.limit,
          isFull: options.full === true,
          notes: breakdownNotes(breakdowns),
        });
        await writeOut(text);
      }),
  }),
} satisfies Commands;
