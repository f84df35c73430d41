// `spanline snapshot show`: what a snapshot holds, or one trace of it as a waterfall. Must not take one of several traces whose ids begin with the
// same digits.

import { breakdownNotes, breakdownsIn, summaryOf } from '@spanline/archive/internal';
import type { Command } from 'commander';
import { breakdownIndexOf, type Snapshot } from 'spanline/flight-recorder';
import { ASCII, drawWaterfall, encodeOtlpJson, glyphsOf } from 'spanline/internal/formats';
import type { ArchivedSpan } from 'spanline/internal/record';
import { shownSpan, shownView } from 'spanline/internal/timeline';
import { notFound, wrongUsage } from '../exit-code.js';
import { wholeNumber } from '../options.js';
import { printAnswer, terminalWidth, wantsColour, writeOut } from '../output.js';
import { factsText, snapshotFacts } from './snapshot-facts.js';
import { snapshotIn } from './snapshot-files.js';

/** Its spans. */
const findTrace = (snapshot: Snapshot, text: string): readonly ArchivedSpan[] => {
  const wanted = text.toLowerCase();
  if (!/^[0-9a-f]{1,32}$/.test(wanted))
    throw wrongUsage(`${JSON.stringify(text)} is not a trace id: up to 32 hex digits, or the first of them`);
  const found = [...snapshot.traces()].filter(({ traceId }) => traceId.startsWith(wanted));
  if (found.length === 0) throw notFound(`there is no trace ${text} in the snapshot`);
  if (found.length > 1)
    throw wrongUsage(`${found.length} traces begin with ${text}; write more of the one that is meant`);
  const [trace] = found;
  const view = shownView(snapshot);
  return trace.spans.map((_, i) => shownSpan(trace, i, view));
};

interface ShowOptions {
  readonly trace?: string;
  readonly limit?: number;
  readonly full?: boolean;
  readonly ascii?: boolean;
  readonly json?: boolean;
}

const TRACES = 20;
const SPANS = 1000;

const showTrace = async (snapshot: Snapshot, id: string, { limit = SPANS, full, ascii, json }: ShowOptions) => {
  const spans = findTrace(snapshot, id);
  if (json) {
    await writeOut(`${encodeOtlpJson(spans)}\n`);
    return;
  }
  const { timelineFromUs } = snapshot;
  const index = timelineFromUs === undefined ? undefined : breakdownIndexOf(snapshot);
  const text = drawWaterfall(summaryOf(spans), spans, {
    notes: breakdownNotes(breakdownsIn(spans, () => index)),
    width: terminalWidth(),
    glyphs: ascii ? ASCII : glyphsOf(),
    isColoured: wantsColour(),
    maxSpans: limit,
    isFull: full === true,
  });
  await writeOut(text);
};

/** Register the command. */
export const register = (snapshot: Command): void => {
  snapshot
    .command('show <file>')
    .description('why a snapshot was taken, what it holds and its slowest traces; or one trace as a waterfall')
    .option('-t, --trace <id>', 'draw this trace; the first digits of its id are enough when no other begins so')
    .option(
      '-n, --limit <number>',
      `traces listed (default: ${TRACES}), or spans drawn (default: ${SPANS})`,
      wholeNumber(1),
    )
    .option('-f, --full', 'with --trace: properties, links and ids of every span too')
    .option('--ascii', 'with --trace: draw with ASCII only; the default where the locale or TERM allows nothing else')
    .option('--json', 'print JSON; with --trace an OTLP/JSON document of its spans')
    .addHelpText(
      'after',
      `
"here only" is a trace that was not sampled: the recorder kept it all the same, and other processes may not have their part of it.
NO_COLOR=1 turns colours off.

Examples:
  $ spanline snapshot show last.flight
  $ spanline snapshot show last.flight --trace 4bf9
  $ spanline snapshot show last.flight --json | jq '.slowest[0]'

Exit codes: 0 shown, 1 there is no such trace, 2 wrong usage or several traces begin so, 3 the file is not a snapshot or cannot be read.`,
    )
    .action(async (file: string, options: ShowOptions) => {
      const taken = await snapshotIn(file);
      if (options.trace !== undefined) {
        await showTrace(taken, options.trace, options);
        return;
      }
      const facts = snapshotFacts(taken, options.limit ?? TRACES);
      printAnswer(options.json, facts, factsText(facts));
    });
};
