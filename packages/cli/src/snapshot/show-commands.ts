// `spanline snapshot show` and `recover`: what a snapshot holds, or what a process that is gone has left in the directory of its recorder, or one
// trace as a waterfall. What a person wants to know comes before the spans: why it was taken, how much it holds, its slowest traces; memory is
// bounded by the number of traces that are wanted. Must not take one of several traces whose ids begin with the same digits.

import { encodeOtlpJson } from '@spanline/archive';
import { breakdownNotes, breakdownsIn, summaryOf } from '@spanline/archive/internal';
import type { SpanRecord } from 'spanline';
import {
  breakdownIndexOf,
  type Snapshot,
  type SnapshotReason,
  type SnapshotTrace,
  writeSnapshot,
} from 'spanline/flight-recorder';
import { escapeText } from 'spanline/internal/base';
import { formatDuration } from 'spanline/internal/formats';
import type { ArchivedSpan } from 'spanline/internal/record';
import { shownSpan, shownView } from 'spanline/internal/timeline';
import { type Commands, command } from '../command.js';
import { interruptible, notFound, wrongUsage } from '../exit-code.js';
import { requireWritable } from '../files.js';
import { ASCII, glyphsOf } from '../glyphs.js';
import { wholeNumber } from '../options.js';
import { columns, note, printAnswer, terminalWidth, wantsColour, writeOut } from '../output.js';
import { exactTime, plural } from '../terminal.js';
import { drawWaterfall } from '../trace/draw-waterfall.js';
import { idDigits } from '../trace/summaries.js';
import { snapshotIn, snapshotLeftIn } from './snapshot-files.js';

/** A trace without its spans. */
interface TraceFacts {
  readonly traceId: string;
  /** Of the root, else of the span that began first, whichever order they come in: a file that was written has another than the rows that it was made of. */
  readonly name: string;
  readonly start: string;
  /** From the earliest start to the latest end. */
  readonly durationNs: number;
  readonly spans: number;
  readonly errors: number;
  /** Spans that had not ended. */
  readonly open: number;
  /** False: recorded here only. */
  readonly isSampled: boolean;
}

/** A snapshot without its spans. */
interface SnapshotFacts {
  readonly reason: SnapshotReason;
  readonly taken: string;
  readonly service: string;
  readonly bufferedMs: number;
  readonly traces: number;
  readonly spans: number;
  readonly open: number;
  /** Traces that are recorded here only. */
  readonly hereOnly: number;
  readonly tornRows: number;
  readonly garbageCollections: number;
  readonly busyStretches: number;
  /** The longest first. */
  readonly slowest: readonly TraceFacts[];
}

/** Whether a trace is named after `a` rather than `b`: after one without a parent, else after the one that began first. */
const namesBefore = (a: SpanRecord, b: SpanRecord): boolean =>
  (a.parentSpanId === '') === (b.parentSpanId === '') ? a.startUnixNs < b.startUnixNs : a.parentSpanId === '';

const factsOfTrace = ({ traceId, spans, isSampled }: SnapshotTrace): TraceFacts => {
  let first = spans[0].record;
  let start = first.startUnixNs;
  let end = first.endUnixNs;
  let errors = 0;
  let open = 0;
  for (const { record, isOpen } of spans) {
    // Times of rows in two blocks may be rounded to either side: the root can seem to begin a nanosecond behind its child.
    if (namesBefore(record, first)) first = record;
    if (record.startUnixNs < start) start = record.startUnixNs;
    if (record.endUnixNs > end) end = record.endUnixNs;
    if (record.status.code === 'error') errors++;
    if (isOpen) open++;
  }
  const durationNs = Number(end - start);
  return {
    traceId,
    name: first.name,
    start: exactTime(start),
    durationNs,
    spans: spans.length,
    errors,
    open,
    isSampled,
  };
};

const longest = (traces: TraceFacts[], limit: number): TraceFacts[] =>
  traces.sort((a, b) => b.durationNs - a.durationNs).slice(0, limit);

/** Reads the whole snapshot once. */
export const snapshotFacts = (snapshot: Snapshot, limit: number): SnapshotFacts => {
  let slowest: TraceFacts[] = [];
  let traces = 0;
  let spans = 0;
  let open = 0;
  let hereOnly = 0;
  for (const trace of snapshot.traces()) {
    const facts = factsOfTrace(trace);
    traces++;
    spans += facts.spans;
    open += facts.open;
    if (!facts.isSampled) hereOnly++;
    slowest.push(facts);
    if (slowest.length > limit * 2 + 100) slowest = longest(slowest, limit);
  }
  const { reason, takenUnixUs, bufferedMs, tornRows, timeline, resource } = snapshot;
  return {
    reason,
    taken: exactTime(BigInt(Math.round(takenUnixUs)) * 1000n),
    service: resource.serviceName,
    bufferedMs,
    traces,
    spans,
    open,
    hereOnly,
    tornRows,
    garbageCollections: timeline.filter(({ kind }) => kind === 'gc').length,
    busyStretches: timeline.filter(({ kind }) => kind === 'busy').length,
    slowest: longest(slowest, limit),
  };
};

const NS_PER_MS = 1e6;

/** Columns of what the facts are called. */
const KEY_WIDTH = 9;

/** For a person. */
export const factsText = (facts: SnapshotFacts): string => {
  const { reason, taken, service, bufferedMs, tornRows, open, hereOnly } = facts;
  const contents = [
    plural(facts.spans, 'span'),
    `${plural(facts.traces, 'trace')} of the last ${formatDuration(bufferedMs * NS_PER_MS, glyphsOf())}`,
    `${open} open`,
    `${plural(hereOnly, 'trace')} recorded here only`,
    ...(tornRows > 0 ? [`${plural(tornRows, 'damaged row')} left out`] : []),
  ];
  const timeline = [
    plural(facts.garbageCollections, 'garbage collection'),
    plural(facts.busyStretches, 'busy stretch', 'busy stretches'),
  ];
  const lines = [
    ['reason', [reason.kind, reason.text].filter((text) => text !== '').join(': ')],
    ...(reason.traceId === '' ? [] : [['trace', reason.traceId]]),
    ['taken', taken],
    ['service', service],
    ['holds', contents.join(', ')],
    ['process', timeline.join(', ')],
  ];
  const rows = facts.slowest.map((one) => [
    one.traceId,
    formatDuration(one.durationNs, glyphsOf()),
    String(one.spans),
    String(one.errors),
    one.open > 0 ? String(one.open) : '',
    one.isSampled ? 'sampled' : 'here only',
    one.name,
  ]);
  const head = lines.map(([key, value]) => `${key.padEnd(KEY_WIDTH)}${escapeText(value)}\n`).join('');
  return `${head}\n${columns(['trace', 'duration', 'spans', 'errors', 'open', 'recorded', 'name'], rows, 'lrrrrll')}`;
};

/** Its spans. */
const findTrace = (snapshot: Snapshot, text: string): readonly ArchivedSpan[] => {
  const wanted = idDigits(text);
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

export const commands = {
  show: command({
    words: '<file>',
    what: 'why a snapshot was taken, what it holds and its slowest traces; or one trace as a waterfall',
    options: {
      trace: ['-t, --trace <id>', 'draw this trace; the first digits of its id are enough when no other begins so'],
      limit: [
        '-n, --limit <number>',
        `traces listed (default: ${TRACES}), or spans drawn (default: ${SPANS})`,
        wholeNumber(1),
      ],
      full: ['-f, --full', 'with --trace: properties, links and ids of every span too'],
      ascii: [
        '--ascii',
        'with --trace: draw with ASCII only; the default where the locale or TERM allows nothing else',
      ],
      json: ['--json', 'print JSON; with --trace an OTLP/JSON document of its spans'],
    },
    help: `
"here only" is a trace that was not sampled: the recorder kept it all the same, and other processes may not have their part of it.
NO_COLOR=1 turns colours off.

Examples:
  $ spanline snapshot show last.flight
  $ spanline snapshot show last.flight --trace 4bf9
  $ spanline snapshot show last.flight --json | jq '.slowest[0]'

Exit codes: 0 shown, 1 there is no such trace, 2 wrong usage or several traces begin so, 3 the file is not a snapshot or cannot be read.`,
    run: async (options, file: string) => {
      const taken = await snapshotIn(file);
      if (options.trace !== undefined) {
        await showTrace(taken, options.trace, options);
        return;
      }
      const facts = snapshotFacts(taken, options.limit ?? TRACES);
      printAnswer(options.json, facts, factsText(facts));
    },
  }),

  recover: command({
    words: '<directory>',
    what: 'what a process that was killed has left with the option "file" of its recorder',
    options: {
      out: ['-o, --out <file>', 'write it to one file, which the other commands read'],
      pid: [
        '--pid <number>',
        'of this process (default: of those that are gone, the one that began last)',
        wholeNumber(1),
      ],
      limit: ['-n, --limit <traces>', 'list no more traces than this', wholeNumber(1), 20],
      json: ['--json', 'print what is there as JSON'],
    },
    help: `
The directory is what SPANLINE_FLIGHT_FILE or the option "file" of the recorder says. It is only read. Rows that the death of the process
has torn are left out and counted; spans that had not ended are marked as open. A process that still runs, such as one whose event loop is
blocked, is read where none that is gone has left anything, and with --pid.

Examples:
  $ spanline snapshot recover /var/lib/shop/flight
  $ spanline snapshot recover /var/lib/shop/flight -o killed.flight && spanline snapshot show killed.flight

Exit codes: 0 done, 1 nothing is there, 2 wrong usage, 3 the directory or the file failed.`,
    run: ({ out, pid, limit, json }, directory: string) =>
      interruptible(async (signal) => {
        if (out !== undefined) requireWritable(out);
        const left = await snapshotLeftIn(directory, pid);
        const facts = snapshotFacts(left, limit);
        if (out !== undefined) await writeSnapshot(left, out, { format: 'flight', signal });
        printAnswer(json, facts, factsText(facts));
        if (out !== undefined) note(`written to ${out}; see: spanline snapshot show ${out}`);
      }),
  }),
} satisfies Commands;
