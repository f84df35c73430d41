// `spanline perf traces count|list|list-by-index|export`: the traces of one tile. Lists are streamed: memory does not grow with them.

import { makeQuery, type PerfTrace, structuredKeyOf } from '@spanline/tracedb';
import { escapeText } from 'spanline/internal/base';
import { type Commands, command } from '../command.js';
import { notFound } from '../exit-code.js';
import { printAnswer, writeOut } from '../output.js';
import { TILE, tileFor, withPerf } from './perf-options.js';
import { noteNothing, RANGE, rangeOf, type SelectedTrace, selectedTraces } from './selected-traces.js';

/** As it is for a program; a person who looks at it has a terminal that would do what the text says. */
const csvField = (text: string): string => {
  const shown = process.stdout.isTTY ? escapeText(text) : text;
  return /[",\n\r]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
};

const csvLines = ({ params, points }: SelectedTrace): string => {
  const key = csvField(structuredKeyOf(params));
  return points.map(({ commit, hash = '', value }) => `${key},${commit},${csvField(hash)},${value}\n`).join('');
};

const listed = (traces: readonly Pick<PerfTrace, 'id' | 'params'>[], json: boolean | undefined): string => {
  const line = ({ id, params }: Pick<PerfTrace, 'id' | 'params'>) =>
    json ? JSON.stringify({ id, params }) : escapeText(structuredKeyOf(params));
  return `${traces.map(line).join('\n')}\n`;
};

export const commands = {
  traces: {
    what: 'the traces of a tile',
    help: "\nExamples:\n  $ spanline perf traces list -s ./perf 'unit=ms'",
    commands: {
      count: command({
        words: '[query]',
        what: 'how many traces a query selects; all without one',
        options: { ...TILE },
        help: "\nExamples:\n  $ spanline perf traces count -s ./perf\n  $ spanline perf traces count -s ./perf 'unit=ms'",
        run: (options, query: string | undefined) =>
          withPerf(options, async (session) => {
            const tile = await tileFor(session, options.tile);
            const count = await session.perf.count(tile, query ?? '', session.call);
            printAnswer(options.json, { tile, query: query ?? '', count }, `${count}\n`);
          }),
      }),
      list: command({
        words: '[query]',
        what: 'structured keys of the traces a query selects; all without one. --json: one JSON object a line',
        options: { ...TILE },
        help: "\nExamples:\n  $ spanline perf traces list -s ./perf 'test=~span'",
        run: (options, query: string | undefined) =>
          withPerf(options, async (session) => {
            const tile = await tileFor(session, options.tile);
            let count = 0;
            for await (const batch of session.perf.query(tile, query ?? '', session.call)) {
              count += batch.length;
              await writeOut(listed(batch, options.json));
            }
            if (count === 0) await noteNothing(session, tile, query ?? '');
          }),
      }),
      'list-by-index': command({
        words: '<key> <value>',
        what: 'the traces that the index has for one value: what a query reads of it',
        options: { ...TILE },
        help: '\nExamples:\n  $ spanline perf traces list-by-index -s ./perf unit ms',
        run: (options, key: string, value: string) =>
          withPerf(options, async (session) => {
            const tile = await tileFor(session, options.tile);
            const only = makeQuery([{ key, kind: 'one-of', values: [value] }]);
            const plan = await session.perf.planOf(tile, only, session.call);
            if (plan.kind === 'empty') {
              const { keys } = await session.perf.orderedParamSet(tile, session.call);
              throw notFound(
                `tile ${tile} has no trace with ${key}=${value}: ${plan.reason}; its keys are ${keys.join(', ') || 'none'}`,
              );
            }
            for await (const batch of session.perf.indexedTraces(tile, key, value, session.call)) {
              await writeOut(listed(batch, options.json));
            }
          }),
      }),
      export: command({
        words: '[query]',
        what: 'values of the traces a query selects, as CSV (key, commit, hash, value) or with --json as JSON lines',
        options: { ...TILE, ...RANGE },
        help: `
Without a range: the values of one tile. With --from, --to or --last: of these commits over all tiles, sorted by key and commit.

Examples:
  $ spanline perf traces export -s ./perf 'test=~span' > values.csv
  $ spanline perf traces export -s ./perf 'test=~span' --last 1000 > values.csv
  $ spanline perf traces export -s ./perf --from 2026-01-01 --to 2026-03-31 --json`,
        run: (options, query: string | undefined) =>
          withPerf(options, async (session) => {
            const range = rangeOf(options, options.tile);
            if (!options.json) await writeOut('key,commit,hash,value\n');
            const linesOf = options.json ? (one: SelectedTrace): string => `${JSON.stringify(one)}\n` : csvLines;
            for await (const batch of selectedTraces(session, query ?? '', range, options.tile, true)) {
              await writeOut(batch.map(linesOf).join(''));
            }
          }),
      }),
    },
  },
} satisfies Commands;
