// `spanline gold put`: writes the results of one commit. A file is checked whole before anything of it is written.

import {
  type CleaningRule,
  type CommitInfo,
  DEFAULT_RULE,
  forceValid,
  type GoldEntry,
  type Params,
  structuredKeyOf,
  TraceDbError,
} from '@spanline/tracedb';
import { checkEntries, DEFAULT_DIGEST_DIGITS } from '@spanline/tracedb/internal';
import { orThrow } from 'spanline/internal/base';
import { type Commands, command } from '../command.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { readText } from '../files.js';
import { isoTime, wholeNumber } from '../options.js';
import { printAnswer } from '../output.js';
import { CLEANING } from '../store-session.js';
import { STORE, withGold } from './commands.js';

interface ResultFile {
  readonly commit: number;
  readonly commitInfo?: CommitInfo;
  readonly timeMs: number;
  readonly entries: readonly GoldEntry[];
}

const bad = (file: string, reason: string): CommandError =>
  new CommandError('ERR_SPANLINE_INVALID_INPUT', `${file}: ${reason}`, ExitCode.usage);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** It decides which of two results counts, so it is never guessed: `null` would be 1970, and lose to everything. */
const timeOf = (time: unknown): number | undefined => {
  const timeMs = typeof time === 'string' ? isoTime(time) : time === undefined ? Date.now() : time;
  return Number.isSafeInteger(timeMs) ? (timeMs as number) : undefined;
};

const commitInfoOf = (file: string, { hash, committed }: Readonly<Record<string, unknown>>): CommitInfo | undefined => {
  if (hash === undefined) return undefined;
  if (typeof hash !== 'string') throw bad(file, '/hash must be a text, that of the commit');
  if (committed === undefined) return { hash };
  const timestampMs = timeOf(committed);
  if (timestampMs === undefined)
    throw bad(file, '/committed must be an ISO 8601 time with its zone (2026-01-31T12:00:00Z), or Unix milliseconds');
  return { hash, timestampMs };
};

/** The document as results. Params, options and digests are checked by the store, which names the entry. */
const parse = (file: string, json: string, commitOption: number | undefined): ResultFile => {
  const document: unknown = orThrow(
    () => JSON.parse(json),
    ({ message }) => bad(file, `is not JSON: ${message}`),
  );
  if (!isObject(document))
    throw bad(file, 'must be an object {"commit": 7, "time": "2026-01-31T12:00:00Z", "entries": [...]}');
  const { commit = commitOption, time, entries } = document;
  if (typeof commit !== 'number') throw bad(file, '/commit must be the number of the commit; or give --commit');
  if (commitOption !== undefined && commit !== commitOption)
    throw bad(file, `/commit is ${commit}, but --commit says ${commitOption}`);
  const timeMs = timeOf(time);
  if (timeMs === undefined) {
    throw bad(file, '/time must be an ISO 8601 time with its zone (2026-01-31T12:00:00Z), or whole Unix milliseconds');
  }
  if (!Array.isArray(entries))
    throw bad(file, '/entries must be a list of {"params": {...}, "options": {...}, "digest": "...", "text": "..."}');
  const wrong = entries.findIndex(
    (entry) => !isObject(entry) || !isObject(entry.params) || typeof entry.digest !== 'string',
  );
  if (wrong !== -1)
    throw bad(file, `/entries/${wrong} must be an object with "params" (an object) and "digest" (a string)`);
  return { commit, commitInfo: commitInfoOf(file, document), timeMs, entries: entries as GoldEntry[] };
};

/** Entries with params as the rule of the store writes them. Two traces that become one would overwrite each other in silence. */
const cleaned = (file: string, entries: readonly GoldEntry[], rule: CleaningRule): GoldEntry[] => {
  const seen = new Map<string, { readonly at: number; readonly params: Params }>();
  return entries.map((entry, at) => {
    const params = orThrow(
      () => forceValid(entry.params, rule),
      ({ message }) => bad(file, `/entries/${at}/params: ${message}`),
    );
    const key = structuredKeyOf(params);
    const other = seen.get(key);
    if (other === undefined) seen.set(key, { at, params: entry.params });
    else if (structuredKeyOf(other.params) !== structuredKeyOf(entry.params)) {
      throw bad(
        file,
        `/entries/${at}/params become ${key}, as those of /entries/${other.at} do, which are others; rename one, or allow more characters`,
      );
    }
    return { ...entry, params };
  });
};

/** What the store has against the results, with the file that has them. */
const namingFile = async (file: string, put: () => Promise<void>): Promise<void> => {
  try {
    await put();
  } catch (error) {
    if (!(error instanceof TraceDbError) || error.code !== 'ERR_SPANLINE_INVALID_INPUT') throw error;
    throw bad(file, error.message.replace(/^entry (\d+):/, '/entries/$1:'));
  }
};

export const commands = {
  put: command({
    words: '<file>',
    what: 'write the results of one commit from a JSON file, or from stdin with -',
    options: {
      ...STORE,
      ...CLEANING,
      commit: ['--commit <number>', 'number of the commit, when the file does not say it', wholeNumber(0)],
    },
    help: `
The file: {"commit": 7, "hash": "868f75e4...", "committed": "2026-01-31T09:00:00Z", "time": "2026-01-31T12:00:00Z",
           "entries": [{"params": {"name": "circle", "gpu": "mali"}, "options": {"ext": "png"}, "digest": "0cc1...", "text": "..."}]}
"hash", "committed" and "text" are for people to read on the page of spanline ui; they may be left out, as may "options".
Params are cleaned as "perf ingest" does it: what the store does not allow becomes "_". "name" names the test. Putting a file again changes nothing; an older time never replaces a newer value.

Examples:
  $ spanline gold put --store ./gold results.json
  $ make-results | spanline gold put --store ./gold --commit 8 -`,
    run: async (options, file: string) => {
      const { commit, commitInfo, timeMs, entries } = parse(file, await readText(file), options.commit);
      await withGold(
        options,
        async ({ gold: store, call }) => {
          const results = cleaned(file, entries, store.rule);
          await namingFile(file, () => store.put(commit, results, timeMs, { ...call, commitInfo }));
          const text = `commit ${commit}: ${entries.length} results\n`;
          printAnswer(options.json, { commit, entries: entries.length }, text);
        },
        {
          make: {},
          isWorthMaking: async (rule = DEFAULT_RULE) => {
            const results = cleaned(file, entries, rule);
            await namingFile(file, async () => checkEntries(results, DEFAULT_DIGEST_DIGITS, rule));
            return true;
          },
        },
      );
    },
  }),
} satisfies Commands;
