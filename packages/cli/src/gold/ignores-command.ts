// `spanline gold ignores`: rules that leave traces out of searches until a time.

import type { IgnoreRule } from '@spanline/tracedb';
import { type Command, InvalidArgumentError } from 'commander';
import { userName } from 'spanline/internal/base';
import { notFound } from '../exit-code.js';
import { isoTime } from '../options.js';
import { columns } from '../output.js';
import { printAnswer, type StoreOptions, withGold, withStore } from './gold-options.js';

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

const row = ({ id, query, expiresMs, by, note }: IgnoreRule): string[] => [
  id,
  new Date(expiresMs).toISOString(),
  expiresMs > Date.now() ? 'yes' : 'expired',
  by,
  query,
  note,
];

const print = (rules: readonly IgnoreRule[], json: boolean | undefined): void =>
  printAnswer(json, rules, columns(['id', 'expires', 'applies', 'by', 'query', 'note'], rules.map(row)));

/** Register the commands. */
export const register = (gold: Command): void => {
  const ignores = gold.command('ignores').description('rules that leave traces out of searches for a while');
  withStore(ignores.command('list'))
    .description('all rules, expired ones too')
    .addHelpText('after', '\nExamples:\n  $ spanline gold ignores list --store ./gold')
    .action((options: StoreOptions) =>
      withGold(options, async ({ gold: store, call }) => print(await store.ignores.list(call), options.json)),
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
        print([await store.ignores.create({ query, expires, note, by }, call)], options.json),
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
