// The commands of `spanline gold` but `put`: a store made once, tiles, triage, blame, search, and the rules that leave traces out of searches until a
// time. A mistyped name must never look like a test of which nothing is untriaged, nor become an expectation that nothing will ever meet.
import {
  type Blame,
  type DigestResult,
  type DigestSearch,
  GoldStore,
  type GoldTile,
  type IgnoreRule,
  type TestDigest,
  type TriageStatus,
  unseenDigests,
} from '@spanline/tracedb';
import { DEFAULT_TEST_KEY, didYouMean, MAX_TILE_SIZE, MIN_TILE_SIZE, quoted } from '@spanline/tracedb/internal';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { userName } from 'spanline/internal/base';
import { ExitCode, endWith, notFound } from '../exit-code.js';
import { isoTime, wholeNumber } from '../options.js';
import { columns, note, printAnswer } from '../output.js';
import {
  type Call,
  type OpenOptions,
  type StoreOptions,
  withAllowedChars,
  withStoreOptions,
  withTable,
} from '../store-session.js';

/** Settings that a new store is made with. */
export interface NewGoldStore {
  readonly tileSize?: number;
  readonly digestDigits?: number;
}

/** Give a command the options of every command on a Gold store. */
export const withStore = (command: Command): Command => withStoreOptions(command, 'gold');

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

const addInit = (gold: Command): void => {
  withAllowedChars(withStore(gold.command('init')))
    .description('make a store; harmless when it exists and was made so')
    .option(
      '--tile-size <commits>',
      'commits of a tile: fixed from then on (default 256)',
      wholeNumber(MIN_TILE_SIZE, MAX_TILE_SIZE),
    )
    .option(
      '--digest-digits <count>',
      'hex digits of a digest: fixed from then on (default 32, MD5)',
      wholeNumber(8, 128),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  $ spanline gold init --store ./gold\n  $ spanline gold init --store ./gold --digest-digits 64',
    )
    .action((options: StoreOptions & NewGoldStore) =>
      withGold(
        options,
        async ({ gold: store }) => {
          const made = { store: store.table.location, engine: store.table.engine, ...store.settings };
          const text = `${made.store}: tiles of ${made.tileSize} commits, digests of ${made.digestDigits} digits\n`;
          printAnswer(options.json, made, text);
        },
        { make: { tileSize: options.tileSize, digestDigits: options.digestDigits } },
      ),
    );
};

interface TileOptions extends StoreOptions {
  readonly commits: number;
  readonly last?: number;
}

// Enough to tell digests apart on a screen; --json has them whole.
const SHOWN_DIGITS = 8;

const tileText = ({ commits, traces }: GoldTile): string => {
  const rows = traces.map(({ id, digests }) => [id, ...digests.map((digest) => digest.slice(0, SHOWN_DIGITS) || '-')]);
  const table = columns(['trace', ...commits.map(String)], rows);
  return `${table}${traces.length} traces at ${commits.length} commits\n`;
};

const addTiles = (gold: Command): void => {
  const addTile = (name: 'tile' | 'dense-tile', what: string): void => {
    withStore(gold.command(name))
      .description(what)
      .option('-n, --commits <count>', 'how many commits', wholeNumber(1, 100_000), 10)
      .option('--last <commit>', 'number of the last commit; the newest with data when left out', wholeNumber(0))
      .addHelpText('after', `\nExamples:\n  $ spanline gold ${name} --store ./gold --commits 5`)
      .action(({ commits, last, ...options }: TileOptions) =>
        withGold(options, async ({ gold: store, call }) => {
          const read = { ...call, last };
          const tile = await (name === 'tile' ? store.getTile(commits, read) : store.getDenseTile(commits, read));
          printAnswer(options.json, { ...tile, paramSet: tile.paramSet.toJSON() }, tileText(tile));
        }),
      );
  };
  addTile('tile', 'digests at the last commits, with or without data');
  addTile('dense-tile', 'digests at the last commits that have data');
};

interface TriageOptions extends StoreOptions {
  readonly by?: string;
  readonly note?: string;
  readonly unseen?: boolean;
}

/** A mistyped name must not become an expectation that nothing will ever meet. */
const refuseUnseen = async (store: GoldStore, changes: readonly TestDigest[], call: Call): Promise<void> => {
  const reasons = new Set((await unseenDigests(store, changes, call)).map(({ reason }) => reason));
  if (reasons.size === 0) return;
  const [first, ...more] = reasons;
  throw notFound(
    `nothing is triaged: ${first}${more.length > 0 ? `, and ${more.length} more` : ''}; --unseen triages it all the same`,
  );
};

const addTriage = (gold: Command): void => {
  withStore(gold.command('triage'))
    .description('say of digests of a test: positive (right), negative (wrong) or untriaged')
    .argument('<test>', 'name of the test')
    .addArgument(new Argument('<status>', 'what they are').choices(['positive', 'negative', 'untriaged']))
    .argument('<digest...>', 'digests')
    .option('--by <name>', 'author; you when left out')
    .option('--note <text>', 'why')
    .option('--unseen', 'also what the store has no result of: expectations that come before results')
    .addHelpText(
      'after',
      "\nExamples:\n  $ spanline gold triage --store ./gold circle positive 0cc175b9c0f1b6a831c399e269772661 --note 'new font'\n\n" +
        'Exit codes: 0 done, 1 the store has no such test, or the test never gave such a digest: nothing is triaged, 2 wrong usage, 3 the store failed.',
    )
    .action(
      (
        test: string,
        status: TriageStatus,
        digests: string[],
        { by = userName(), note, unseen = false, ...options }: TriageOptions,
      ) =>
        withGold(options, async ({ gold: store, call }) => {
          const changes = digests.map((digest) => ({ test, digest, status }));
          if (!unseen) await refuseUnseen(store, changes, call);
          const changed = await store.expectations.triage(changes, { by, note, ...call });
          const text = `${changed} of ${digests.length} digests of ${test} changed to ${status}\n`;
          printAnswer(options.json, { test, status, changed }, text);
        }),
    );
};

interface BlameOptions extends StoreOptions {
  readonly commits: number;
  readonly test?: string;
}

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

const addBlame = (gold: Command): void => {
  withStore(gold.command('blame'))
    .description('commits that may have brought each untriaged digest')
    .option('-n, --commits <count>', 'how many commits with data to look at', wholeNumber(1, 100_000), 100)
    .option('--test <name>', 'only this test')
    .addHelpText(
      'after',
      '\nExamples:\n  $ spanline gold blame --store ./gold\n\nExit codes: 0 nothing untriaged, 1 something is, or the store has no such test.',
    )
    .action(({ commits, test, ...options }: BlameOptions) =>
      withGold(options, async ({ gold: store, call }) => {
        const all = await store.blame(commits, undefined, call);
        const blamed = test === undefined ? all : all.filter((one) => one.test === test);
        if (test !== undefined && blamed.length === 0) await requireTest(store, test, call);
        const head = ['test', 'digest', 'suspects', 'first seen', 'traces'];
        printAnswer(options.json, blamed, columns(head, blamed.map(blameRow), 'lllrr'));
        if (blamed.length > 0) endWith(ExitCode.findings);
      }),
    );
};

interface SearchOptions extends StoreOptions {
  readonly commits: number;
  readonly status: readonly TriageStatus[];
  readonly ignored: NonNullable<DigestSearch['ignored']>;
  readonly all?: boolean;
  readonly offset: number;
  readonly limit: number;
}

const foundRow = ({ test, digest, status, traces, firstCommit, lastCommit }: DigestResult): string[] => [
  test,
  digest,
  status,
  String(traces.length),
  String(firstCommit),
  String(lastCommit),
];

const addSearch = (gold: Command): void => {
  withStore(gold.command('search [query]'))
    .description('digests by params and options of their traces; by default those that need triage')
    .option('-n, --commits <count>', 'how many commits with data to look at', wholeNumber(1, 100_000), 100)
    .addOption(
      new Option('--status <status...>', 'statuses')
        .choices(['untriaged', 'positive', 'negative'])
        .default(['untriaged']),
    )
    .addOption(
      new Option('--ignored <which>', 'traces that an ignore rule matches')
        .choices(['exclude', 'include', 'only'])
        .default('exclude'),
    )
    .option('--all', 'digests that are gone by now too, not only the last ones of traces')
    .option('--offset <count>', 'results to skip', wholeNumber(0), 0)
    .option('--limit <count>', 'results to print', wholeNumber(1, 10_000), 100)
    .addHelpText(
      'after',
      "\nExamples:\n  $ spanline gold search --store ./gold 'gpu=mali'\n  $ spanline gold search --store ./gold --status negative positive\n\n" +
        'Exit codes: 0 no untriaged or negative digest found, 1 one is.',
    )
    .action((query: string | undefined, { commits, status, ignored, all, offset, limit, ...options }: SearchOptions) =>
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
    );
};

interface AddOptions extends StoreOptions {
  readonly expires: number;
  readonly note?: string;
  readonly by?: string;
}

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

const addIgnores = (gold: Command): void => {
  const ignores = gold.command('ignores').description('rules that leave traces out of searches for a while');
  withStore(ignores.command('list'))
    .description('all rules, expired ones too')
    .addHelpText('after', '\nExamples:\n  $ spanline gold ignores list --store ./gold')
    .action((options: StoreOptions) =>
      withGold(options, async ({ gold: store, call }) => printRules(await store.ignores.list(call), options.json)),
    );
  withStore(ignores.command('add <query>'))
    .description('leave out the traces whose params or options this query selects')
    .requiredOption('--expires <when>', 'until when: 12h, 7d, 2w, or an ISO 8601 time', expiry)
    .option('--note <text>', 'why')
    .option('--by <name>', 'author; you when left out')
    .addHelpText(
      'after',
      "\nExamples:\n  $ spanline gold ignores add --store ./gold 'gpu=mali' --expires 7d --note 'driver update'",
    )
    .action((query: string, { expires, note, by = userName(), ...options }: AddOptions) =>
      withGold(options, async ({ gold: store, call }) =>
        printRules([await store.ignores.create({ query, expires, note, by }, call)], options.json),
      ),
    );
  withStore(ignores.command('delete <id>'))
    .description('delete a rule')
    .addHelpText('after', '\nExamples:\n  $ spanline gold ignores delete --store ./gold 0123456789abcdef')
    .action((id: string, options: StoreOptions) =>
      withGold(options, async ({ gold: store, call }) => {
        if (!(await store.ignores.delete(id, call))) {
          throw notFound(`there is no ignore rule ${id}; see spanline gold ignores list`);
        }
        printAnswer(options.json, { deleted: id }, `deleted ${id}\n`);
      }),
    );
};

const COMMANDS: Readonly<Record<string, (group: Command) => void>> = {
  init: addInit,
  'tile dense-tile': addTiles,
  triage: addTriage,
  ignores: addIgnores,
  blame: addBlame,
  search: addSearch,
};

/** Register the command of this name. */
export const register = (group: Command, name: string): void => COMMANDS[name](group);
