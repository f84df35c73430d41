// What a store was made with. Its numbers decide under which keys data is, so the table itself says them: a store that is opened with others
// must not open.
import { wholeNumber } from 'spanline/internal/base';
import { changeRowIfSame } from '../table/cells.js';
import type { Mutation, ReadOptions, Row, WideColumnTable } from '../table/wide-column-table.js';
import { invalidInput } from '../tracedb-error.js';
import type { CallDeadline } from './call-deadline.js';
import { type CleaningRule, DEFAULT_RULE } from './param-text.js';

/** What the table says. */
interface StoredSettings<S> {
  readonly settings: S;
  /** How params are cleaned where nobody says otherwise. */
  readonly rule: CleaningRule;
}

/** How a kind of store keeps its settings. */
export interface SettingsRow<S> {
  readonly key: string;
  readonly family: string;
  /** A column that every store of the kind has. */
  readonly column: string;
  /** What is read of the row, beside its family. */
  readonly filter?: ReadOptions;
  readonly bounds: Readonly<Record<keyof S, readonly [min: number, max: number]>>;
  readonly defaults: S;
  parse(row: Row, location: string): StoredSettings<S>;
  cells(made: StoredSettings<S>): Mutation[];
}

/** Throws `ERR_SPANLINE_INVALID_INPUT` unless all that are given are in their bounds. */
export const checkSettings = <S>({ bounds }: Pick<SettingsRow<S>, 'bounds'>, settings: Partial<S>): void => {
  for (const name of Object.keys(bounds) as (keyof S & string)[]) {
    if (settings[name] !== undefined) wholeNumber(name, settings[name], bounds[name], invalidInput);
  }
};

/** The settings of the store in `table`; a new one gets those `wanted`, else the defaults. An existing one keeps its rule. */
export const openSettings = async <S extends object>(
  table: WideColumnTable,
  kind: SettingsRow<S>,
  wanted: Partial<S>,
  rule: CleaningRule = DEFAULT_RULE,
  deadline: CallDeadline,
): Promise<StoredSettings<S>> => {
  checkSettings(kind, wanted);
  const { key, family, column: qualifier } = kind;
  const read = async (): Promise<StoredSettings<S> | undefined> => {
    const row = await table.readRow(key, { ...deadline.next(), families: [family], ...kind.filter });
    return row && kind.parse(row, table.location);
  };
  const names = Object.keys(kind.bounds) as (keyof S & string)[];
  let stored = await read();
  if (stored === undefined) {
    const settings = Object.fromEntries(names.map((name) => [name, wanted[name] ?? kind.defaults[name]])) as S;
    const made = { settings, rule };
    const absent = { family, qualifier, value: undefined };
    // Two processes may open a new store at once: the second takes what the first has written.
    const isMine = await changeRowIfSame(table, key, absent, kind.cells(made), deadline.next());
    stored = isMine ? made : ((await read()) as StoredSettings<S>);
  }
  for (const name of names) {
    const is = stored.settings[name];
    if (wanted[name] === undefined || wanted[name] === is) continue;
    throw invalidInput(`${table.location} was made with ${name} ${is}, not ${wanted[name]}; leave ${name} out`);
  }
  return stored;
};
