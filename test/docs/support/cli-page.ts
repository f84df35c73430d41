// The commands of docs/cli.md, between its markers, made of the program itself: what `--help` prints is the text.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command, Option } from 'commander';

export const PAGE = fileURLToPath(new URL('../../../docs/cli.md', import.meta.url));
const [BEGIN, END] = ['<!-- begin commands -->\n', '<!-- end commands -->'];

/** Pages about a command or a group. */
const PAGES: Readonly<Record<string, string>> = {
  clock: 'spans.md#the-clock',
  run: 'instrumentation.md#register',
  trace: 'archive.md#the-commands',
  archive: 'archive.md#in-an-object-store',
  stalls: 'flight-recorder.md#where-the-time-of-a-span-went',
  serve: 'archive.md#the-server',
  ui: 'ui.md',
  snapshot: 'flight-recorder.md#from-the-command-line',
  perf: 'tracedb.md',
  bench: 'tracedb.md#benchmark-history-and-gate',
  gold: 'tracedb.md#gold',
  profile: 'profiling.md',
  graph: 'graph.md',
};

/** Options and variables stand as code. */
const COPIED = /node --import spanline\/register|(?<![\w/-])--?[a-z][\w-]*|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/g;

const marked = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part, i) => (i % 2 === 1 ? part : part.replaceAll('\\', '\\\\').replace(COPIED, '`$&`')))
    .join('')
    .replaceAll('<', '&lt;');

const sentence = (text: string): string =>
  `${marked(text[0].toUpperCase() + text.slice(1))}${/[.:]$/.test(text) ? '' : '.'}`;
const cell = (text: string): string => marked(text).replaceAll('|', '\\|');

const isShown = (value: unknown): boolean =>
  !(value === undefined || value === false || value === '' || typeof value === 'object');
const defaultOf = ({ defaultValue, defaultValueDescription: shown, negate }: Option): string =>
  negate || !(isShown(shown) || isShown(defaultValue)) ? '' : `\`${shown ?? defaultValue}\``;

const rowOf = (option: Option): string => {
  const { flags, description, argChoices } = option;
  const choices = argChoices === undefined ? '' : `: ${argChoices.map((one) => `\`${one}\``).join(', ')}`;
  return `| \`${flags.replaceAll('|', '\\|')}\` | ${defaultOf(option)} | ${cell(description)}${choices} |`.replace(
    '|  |',
    '| |',
  );
};

const optionTable = (options: readonly Option[]): readonly string[] =>
  options.length === 0 ? [] : [['| option | default | |', '| --- | --- | --- |', ...options.map(rowOf)].join('\n')];

/** What a command prints behind its options, as blocks of the page. */
const remarksOf = (command: Command): readonly string[] => {
  let printed = '';
  const writeOut = (text: string): void => {
    printed += text;
  };
  command.configureOutput({ writeOut, getOutHelpWidth: () => 100 });
  command.outputHelp();
  const blocks = printed
    .slice(command.helpInformation().length)
    .trim()
    .split(/\n{2,}/);
  return blocks.filter(Boolean).flatMap((block) => {
    const [title, ...lines] = block.split('\n');
    const indented = lines.length > 0 && lines.every((line) => line.startsWith('  '));
    if (!indented) return [marked(block)];
    const code = lines.map((line) => line.slice(2));
    if (!code.every((line) => line.startsWith('$ '))) return [marked(title), `\`\`\`text\n${code.join('\n')}\n\`\`\``];
    return [`\`\`\`sh\n${code.map((line) => line.slice(2).replace(/ {3,}(?=\S)/, '   # ')).join('\n')}\n\`\`\``];
  });
};

const keyOf = ({ flags, description }: Option): string => `${flags} ${description}`;
const visible = (command: Command): readonly Option[] =>
  command.options.filter(({ hidden, long }) => !hidden && long !== '--help');
const leaves = (command: Command): readonly Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);

const commandSection = (
  command: Command,
  path: string,
  depth: number,
  shared: ReadonlySet<string>,
): readonly string[] => {
  const usage = command.registeredArguments.map((one) => {
    const { required, variadic } = one;
    const text = `${one.name()}${variadic ? '...' : ''}`;
    return required ? `<${text}>` : `[${text}]`;
  });
  const own = visible(command).filter((one) => !shared.has(keyOf(one)));
  const more = PAGES[path.split(' ')[1]];
  return [
    `${'#'.repeat(depth)} ${path}`,
    `\`${[path, '[options]', ...usage].join(' ')}\``,
    `${sentence(command.description())}${depth === 2 ? ` See [${more.replace(/\.md.*/, '')}](${more}).` : ''}`,
    ...optionTable(own),
    ...remarksOf(command),
  ];
};

/** A group: options that all of its commands have stand there once. */
const groupSection = (group: Command, path: string): readonly string[] => {
  const all = leaves(group);
  const inAll = (one: Option): boolean =>
    all.every((leaf) => visible(leaf).some((other) => keyOf(other) === keyOf(one)));
  const common = visible(all[0]).filter(inAll);
  const shared = new Set(common.map(keyOf));
  const walk = (command: Command, at: string): readonly string[] =>
    command.commands.length > 0
      ? command.commands.flatMap((one) => walk(one, `${at} ${one.name()}`))
      : commandSection(command, at, 3, shared);
  const more = PAGES[group.name()];
  return [
    `## ${path}`,
    `${sentence(group.description())} See [${more.replace(/\.md.*/, '')}](${more}).${common.length > 0 ? ' Options of every command of this group:' : ''}`,
    ...optionTable(common),
    ...remarksOf(group),
    ...group.commands.flatMap((one) => walk(one, `${path} ${one.name()}`)),
  ];
};

/** The text between the markers. */
const commandsText = (program: Command): string =>
  program.commands
    .flatMap((one) => {
      const path = `spanline ${one.name()}`;
      return one.commands.length === 0 ? commandSection(one, path, 2, new Set()) : groupSection(one, path);
    })
    .join('\n\n');

/** The page with the commands as they are. */
export const pageOf = (program: Command): string => {
  const page = readFileSync(PAGE, 'utf8');
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`docs/cli.md has no markers ${BEGIN.trim()} and ${END}`);
  return `${page.slice(0, from + BEGIN.length)}\n${commandsText(program)}\n\n${page.slice(to)}`;
};
