// A command as a row of a table: its words, its options, what is said of it and what runs; and how a row becomes a command of commander's. The types of
// options follow from their rows, so that none is written twice. Nothing runs here, and every command loads it: it must need nothing of the library.
import { Argument, type Command, Option } from 'commander';

/** Reads a value, and has those that were given before where the option is repeatable; or the words of which one is to be written. */
type Reader = ((text: string, before: never) => unknown) | readonly string[];

/**
 * An option or a word of a command line. `otherwise` stands where it is not given, and is said as `shown`; {@link REQUIRED}: it must be. One of which
 * nothing is said is not in the help.
 */
type Row = readonly [flags: string, what: string, read?: Reader, otherwise?: unknown, shown?: string];

export const REQUIRED = Symbol('required');

/** By the names that commander gives them: `keepHours` is `--keep-hours`. */
export type Options = Readonly<Record<string, Row>>;

type Read<R extends Row> = R[2] extends (...given: never) => infer Value
  ? Value
  : R[2] extends readonly (infer Word)[]
    ? Word
    : string;

type Given<R extends Row> = R[0] extends `${string}...>`
  ? readonly Read<R>[]
  : R[0] extends `${string}<${string}`
    ? Read<R>
    : boolean;

/** What the options of a command give. */
export type Values<Rows extends Options> = {
  readonly [Key in keyof Rows]: Rows[Key] extends readonly [string, string, unknown, NonNullable<unknown>, ...unknown[]]
    ? Given<Rows[Key]>
    : Given<Rows[Key]> | undefined;
};

export interface CommandRow {
  /** What is written behind its name, with blanks between; as rows where something is said of a word. */
  readonly words?: string | readonly Row[];
  readonly what: string;
  readonly options?: Options;
  /** Stands below its options. */
  readonly help?: string;
  /** Has the options, then a value a word, then commander's command. */
  readonly run?: (options: never, ...words: never[]) => unknown;
  readonly commands?: Commands;
}

/** By their names. */
export type Commands = Readonly<Record<string, CommandRow>>;

/** Options that several commands have, or that a function is given. */
export const options = <const Rows extends Options>(rows: Rows): Rows => rows;

/** A row whose action knows the types of its options. */
export const command = <const Rows extends Options = Record<never, never>>(
  row: Omit<CommandRow, 'options' | 'run'> & {
    readonly options?: Rows;
    readonly run: (options: Values<Rows>, ...words: never[]) => unknown;
  },
): CommandRow => row;

const readBy = (target: Option | Argument, read: Reader | undefined): void => {
  if (typeof read === 'function') target.argParser(read as (text: string, before: unknown) => unknown);
  else if (read !== undefined) target.choices(read);
};

const optionOf = ([flags, what, read, otherwise, shown]: Row): Option => {
  const option = new Option(flags, what).hideHelp(what === '');
  readBy(option, read);
  return otherwise === REQUIRED ? option.makeOptionMandatory() : option.default(otherwise, shown);
};

const argumentOf = ([name, what, read]: Row): Argument => {
  const argument = new Argument(name, what);
  readBy(argument, read);
  return argument;
};

const wordRows = (words: string | readonly Row[]): readonly Row[] =>
  typeof words === 'string' ? words.split(' ').map((word) => [word, ''] as const) : words;

/** Gives the program the command, and those below it. */
export const addCommand = (parent: Command, name: string, row: CommandRow): Command => {
  const { words = [], what, options: rows = {}, help = '', run, commands = {} } = row;
  const made = parent.command(name).description(what).addHelpText('after', help);
  for (const word of wordRows(words)) {
    made.addArgument(argumentOf(word));
    // The options of another program are its own.
    if (word[0] === '<command...>') made.passThroughOptions();
  }
  for (const one of Object.values(rows)) made.addOption(optionOf(one));
  for (const [below, one] of Object.entries(commands)) addCommand(made, below, one);
  if (run !== undefined)
    made.action((...given: unknown[]) => {
      const [values, self] = given.slice(-2);
      return (run as (...given: unknown[]) => Promise<void>)(values, ...given.slice(0, -2), self);
    });
  return made;
};
