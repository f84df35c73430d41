// The commands of `spanline gold` but `put`: a store made once, tiles, triage, blame, search, and the rules that leave traces out of searches until a
// time. A mistyped name must never look like a test of which nothing is untriaged, nor become an expectation that nothing will ever meet.

import {
  type Blame,
  type DigestResult,
  GoldStore,
  type GoldTile,
  type IgnoreRule,
  type TestDigest,
  type TriageStatus,
  unseenDigests,
} from '@spanline/tracedb';
import { DEFAULT_TEST_KEY, didYouMean, quoted } from '@spanline/tracedb/internal';
import { InvalidArgumentError } from 'commander';
import { userName } from 'spanline/internal/base';
import { type CommandRow, type Commands, command, REQUIRED } from '../command.js';
import { ExitCode, endWith, notFound } from '../exit-code.js';
import { isoTime, wholeNumber } from '../options.js';
import { columns, note, printAnswer } from '../output.js';
import {
  type Call,
  CLEANING,
  type OpenOptions,
  type StoreOptions,
  storeOptions,
  tileSize,
  withTable,
} from '../store-session.js';

/** Settings that a new store is made with. */
export interface NewGoldStore {
  readonly tileSize?: number;
  readonly digestDigits?: number;
}

/** The options of every command on a Gold store. */
export const STORE = storeOptions('gold');

/** Open the store, run `work`, close it. A store that does not exist is made only when `make` is given. */
export const withGold = (
  options: StoreOptions,
  work: (session: { readonly gold: GoldStore; readonly call: Call }) => Promise<void>,
  open: OpenOptions<NewGoldStore> = {},
): Promise<void> =>
  withTable('gold', options, open, async ({ table, config, rule, call }) => {
    const { make } = open;
    const settings = make && { digestDigits: make.digestDigits, tileSize: make.tileSize ?? config?.tileSize };
    await work({ gold: await GoldStore.open(table, { ...settings, rule, ...call }), call });
  });

// Enough to tell digests apart on a screen; --json has them whole.
const SHOWN_DIGITS = 8;

const tileText = ({ commits, traces }: GoldTile): string => {
  const rows = traces.map(({ id, digests }) => [id, ...digests.map((digest) => digest.slice(0, SHOWN_DIGITS) || '-')]);
  const table = columns(['trace', ...commits.map(String)], rows);
  return `${table}${traces.length} traces at ${commits.length} commits\n`;
};

/** A mistyped name must not become an expectation that nothing will ever meet. */
const refuseUnseen = async (store: GoldStore, changes: readonly TestDigest[], call: Call): Promise<void> => {
  const reasons = new Set((await unseenDigests(store, changes, call)).map(({ reason }) => reason));
  if (reasons.size === 0) return;
  const [first, ...more] = reasons;
  throw notFound(
    `nothing is triaged: ${first}${more.length > 0 ? `, and ${more.length} more` : ''}; --unseen triages it all the same`,
  );
};

const blameRow = ({ test, digest, suspects, firstSeen, traces, mayBeOlder }: Blame): string[] => [
  test,
  digest,
  `${suspects.map(({ commit }) => commit).join(' ')}${mayBeOlder ? ' or older' : ''}`.trim(),
  String(firstSeen),
  String(traces),
];

/** A mistyped name must not look like a test of which nothing is untriaged. */
const requireTest = async (store: GoldStore, test: string, call: Call): Promise<void> => {
  const tests = new Set<string>();
  for await (const tile of store.tiles(call)) {
    for (const one of (await store.orderedParamSet(tile, call)).values(DEFAULT_TEST_KEY)) tests.add(one);
    if (tests.has(test)) return;
  }
  throw notFound(`the store has no test ${quoted(test)}${didYouMean(test, [...tests])}`);
};

const foundRow = ({ test, digest, status, traces, firstCommit, lastCommit }: DigestResult): string[] => [
  test,
  digest,
  status,
  String(traces.length),
  String(firstCommit),
  String(lastCommit),
];

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A point in time: `12h`, `7d`, `2w` from now, or an ISO 8601 time; Unix milliseconds. */
const expiry = (text: string): number => {
  const [, count, unit] = /^(\d{1,6})([hdw])$/.exec(text) ?? [];
  const time = count === undefined ? isoTime(text) : Date.now() + Number(count) * UNIT_MS[unit];
  // One that is over would be added and do nothing.
  if (time > Date.now()) return time;
  throw new InvalidArgumentError('write 12h, 7d, 2w, or a time to come such as 2100-12-24T18:00:00Z.');
};

const ruleRow = ({ id, query, expiresMs, by, note }: IgnoreRule): string[] => [
  id,
  new Date(expiresMs).toISOString(),
  expiresMs > Date.now() ? 'yes' : 'expired',
  by,
  query,
  note,
];

const printRules = (rules: readonly IgnoreRule[], json: boolean | undefined): void =>
  printAnswer(json, rules, columns(['id', 'expires', 'applies', 'by', 'query', 'note'], rules.map(ruleRow)));

const tileCommand = (name: 'tile' | 'dense-tile', what: string): CommandRow =>
  command({
    what,
    options: {
      ...STORE,
      commits: ['-n, --commits <count>', 'how many commits', wholeNumber(1, 100_000), 10],
      last: ['--last <commit>', 'number of the last commit; the newest with data when left out', wholeNumber(0)],
    },
    help: `\nExamples:\n  $ spanline gold ${name} --store ./gold --commits 5`,
    run: ({ commits, last, ...options }) =>
      withGold(options, async ({ gold: store, call }) => {
        const read = { ...call, last };
        const tile = await (name === 'tile' ? store.getTile(commits, read) : store.getDenseTile(commits, read));
        printAnswer(options.json, { ...tile, paramSet: tile.paramSet.toJSON() }, tileText(tile));
      }),
  });

export const commands = {
  init: command({
    what: 'make a store; harmless when it exists and was made so',
    options: {
      ...STORE,
      ...CLEANING,
      ...tileSize('fixed from then on'),
      digestDigits: [
        '--digest-digits <count>',
        'hex digits of a digest: fixed from then on (default 32, MD5)',
        wholeNumber(8, 128),
      ],
    },
    help: '\nExamples:\n  $ spanline gold init --store ./gold\n  $ spanline gold init --store ./gold --digest-digits 64',
    run: (options) =>
      withGold(
        options,
        async ({ gold: store }) => {
          const made = { store: store.table.location, engine: store.table.engine, ...store.settings };
          const text = `${made.store}: tiles of ${made.tileSize} commits, digests of ${made.digestDigits} digits\n`;
          printAnswer(options.json, made, text);
        },
        { make: { tileSize: options.tileSize, digestDigits: options.digestDigits } },
      ),
  }),

  tile: tileCommand('tile', 'digests at the last commits, with or without data'),
  'dense-tile': tileCommand('dense-tile', 'digests at the last commits that have data'),

  triage: command({
    words: [
      ['<test>', 'name of the test'],
      ['<status>', 'what they are', ['positive', 'negative', 'untriaged']],
      ['<digest...>', 'digests'],
    ],
    what: 'say of digests of a test: positive (right), negative (wrong) or untriaged',
    options: {
      ...STORE,
      by: ['--by <name>', 'author; you when left out'],
      note: ['--note <text>', 'why'],
      unseen: ['--unseen', 'also what the store has no result of: expectations that come before results'],
    },
    help:
      "\nExamples:\n  $ spanline gold triage --store ./gold circle positive 0cc175b9c0f1b6a831c399e269772661 --note 'new font'\n\n" +
      'Exit codes: 0 done, 1 the store has no such test, or the test never gave such a digest: nothing is triaged, 2 wrong usage, 3 the store failed.',
    run: (
      { by = userName(), note, unseen = false, ...options },
      test: string,
      status: TriageStatus,
      digests: string[],
    ) =>
      withGold(options, async ({ gold: store, call }) => {
        const changes = digests.map((digest) => ({ test, digest, status }));
        if (!unseen) await refuseUnseen(store, changes, call);
        const changed = await store.expectations.triage(changes, { by, note, ...call });
        const text = `${changed} of ${digests.length} digests of ${test} changed to ${status}\n`;
        printAnswer(options.json, { test, status, changed }, text);
      }),
  }),

  blame: command({
    what: 'commits that may have brought each untriaged digest',
    options: {
      ...STORE,
      commits: ['-n, --commits <count>', 'how many commits with data to look at', wholeNumber(1, 100_000), 100],
      test: ['--test <name>', 'only this test'],
    },
    help: '\nExamples:\n  $ spanline gold blame --store ./gold\n\nExit codes: 0 nothing untriaged, 1 something is, or the store has no such test.',
    run: ({ commits, test, ...options }) =>
      withGold(options, async ({ gold: store, call }) => {
        const all = await store.blame(commits, undefined, call);
        const blamed = test === undefined ? all : all.filter((one) => one.test === test);
        if (test !== undefined && blamed.length === 0) await requireTest(store, test, call);
        const head = ['test', 'digest', 'suspects', 'first seen', 'traces'];
        printAnswer(options.json, blamed, columns(head, blamed.map(blameRow), 'lllrr'));
        if (blamed.length > 0) endWith(ExitCode.findings);
      }),
  }),

  search: command({
    words: '[query]',
    what: 'digests by params and options of their traces; by default those that need triage',
    options: {
      ...STORE,
      commits: ['-n, --commits <count>', 'how many commits with data to look at', wholeNumber(1, 100_000), 100],
      status: ['--status <status...>', 'statuses', ['untriaged', 'positive', 'negative'], ['untriaged']],
      ignored: ['--ignored <which>', 'traces that an ignore rule matches', ['exclude', 'include', 'only'], 'exclude'],
      all: ['--all', 'digests that are gone by now too, not only the last ones of traces'],
      offset: ['--offset <count>', 'results to skip', wholeNumber(0), 0],
      limit: ['--limit <count>', 'results to print', wholeNumber(1, 10_000), 100],
    },
    help:
      "\nExamples:\n  $ spanline gold search --store ./gold 'gpu=mali'\n  $ spanline gold search --store ./gold --status negative positive\n\n" +
      'Exit codes: 0 no untriaged or negative digest found, 1 one is.',
    run: ({ commits, status, ignored, all, offset, limit, ...options }, query: string | undefined) =>
      withGold(options, async ({ gold: store, call }) => {
        const search = { query: query ?? '', statuses: status, ignored, head: all !== true, offset, limit };
        const { results, total, totals, ignoredTraces, reason } = await store.search(commits, search, call);
        const shown = results.map((result) => ({ ...result, paramSet: result.paramSet.toJSON() }));
        const table = columns(['test', 'digest', 'status', 'traces', 'first', 'last'], results.map(foundRow), 'lllrrr');
        const text = `${table}${results.length} of ${total} digests; ${ignoredTraces} traces ignored\n`;
        printAnswer(options.json, { total, totals, ignoredTraces, reason, results: shown }, text);
        if (reason !== undefined) note(reason);
        // Also when they are on another page.
        if (totals.untriaged + totals.negative > 0) endWith(ExitCode.findings);
      }),
  }),

  ignores: {
    what: 'rules that leave traces out of searches for a while',
    commands: {
      list: command({
        what: 'all rules, expired ones too',
        options: { ...STORE },
        help: '\nExamples:\n  $ spanline gold ignores list --store ./gold',
        run: (options) =>
          withGold(options, async ({ gold: store, call }) => printRules(await store.ignores.list(call), options.json)),
      }),
      add: command({
        words: '<query>',
        what: 'leave out the traces whose params or options this query selects',
        options: {
          ...STORE,
          expires: ['--expires <when>', 'until when: 12h, 7d, 2w, or an ISO 8601 time', expiry, REQUIRED],
          note: ['--note <text>', 'why'],
          by: ['--by <name>', 'author; you when left out'],
        },
        help: "\nExamples:\n  $ spanline gold ignores add --store ./gold 'gpu=mali' --expires 7d --note 'driver update'",
        run: ({ expires, note, by = userName(), ...options }, query: string) =>
          withGold(options, async ({ gold: store, call }) =>
            printRules([await store.ignores.create({ query, expires, note, by }, call)], options.json),
          ),
      }),
      delete: command({
        words: '<id>',
        what: 'delete a rule',
        options: { ...STORE },
        help: '\nExamples:\n  $ spanline gold ignores delete --store ./gold 0123456789abcdef',
        run: (options, id: string) =>
          withGold(options, async ({ gold: store, call }) => {
            if (!(await store.ignores.delete(id, call))) {
              throw notFound(`there is no ignore rule ${id}; see spanline gold ignores list`);
            }
            printAnswer(options.json, { deleted: id }, `deleted ${id}\n`);
          }),
      }),
    },
  },
} satisfies Commands;
