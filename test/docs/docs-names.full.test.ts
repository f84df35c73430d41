// Every option that is accepted, every counter that is shown, every name and code has a place on the page about it. Commands: cli-page.test.ts.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { Archive } from '../../packages/archive/src/archive.js';
import { ARCHIVE_DEFAULTS } from '../../packages/archive/src/archive-options.js';
import { ArchiveReporter } from '../../packages/archive/src/archive-reporter.js';
import { createArchiveServer } from '../../packages/archive/src/server/archive-server.js';
import { resolveServerOptions } from '../../packages/archive/src/server/server-options.js';
import { CpuReporter, continuousProfiler, stats as profileStats } from '../../packages/profile/src/index.js';
import { ConsoleReporter } from '../../src/exporters/console.js';
import { FileReporter } from '../../src/exporters/file.js';
import { JaegerReporter } from '../../src/exporters/jaeger.js';
import { MemoryReporter } from '../../src/exporters/memory.js';
import { OtelSdkReporter } from '../../src/exporters/otel-sdk.js';
import { OtlpReporter } from '../../src/exporters/otlp.js';
import { Collector, configure, type Reporter, stats, traced } from '../../src/index.js';
import { sourceFiles, sourceText } from '../support/sources.js';
import { entries } from './support/entries.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = (name: string): string => readFileSync(join(root, 'docs', name), 'utf8');

/** One `##` section of a page. */
const section = (name: string, title: string): string => {
  const found = page(name)
    .split(/^(?=## )/m)
    .find((part) => part.startsWith(`## ${title}\n`));
  if (found === undefined) throw new Error(`docs/${name} has no section "${title}"`);
  return found;
};

/** What a wrong option is answered with names those that are known. */
const optionsOf = (make: (options: never) => unknown, options: object = {}): string[] => {
  try {
    make({ ...options, noSuchOption: 1 } as never);
  } catch (error) {
    const known = /(?:Known:|its options are) (.+)\.$/.exec((error as Error).message);
    if (known !== null) return known[1].split(', ');
    throw error;
  }
  throw new Error('an unknown option was accepted');
};

const quoted = (text: string): string => text.replace(/^```.*?^```$/gms, '').replace(/[^`]*(`[^`]*`|$)/g, '$1 ');

const missing = (names: readonly string[], text: string): string[] => {
  expect(names.length).toBeGreaterThan(0);
  const words = new Set(quoted(text).match(/\w+/g));
  return names.filter((name) => !words.has(name));
};

/** Whole codes: one that a template completes stands before `$`. */
const CODE = /\b(?:ERR_)?SPANLINE_[A-Z_]+(?=['"`])/g;

/** Names that a file exports, types too. */
const exportsOf = (source: string): string[] => {
  const lists = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list]) => list.split(','));
  const own = [...source.matchAll(/^export (?:abstract |async )*(?:class|interface|type|const|function) (\w+)/gm)];
  const listed = lists
    .map((one) =>
      one
        .trim()
        .replace(/^type /, '')
        .replace(/^\w+ as /, ''),
    )
    .filter((one) => one !== '');
  return [...listed, ...own.map(([, name]) => name)];
};

/** Members of a class that are neither private nor `@internal`. */
const membersOf = (source: string, name: string): string[] => {
  const file = ts.createSourceFile('a.ts', source, ts.ScriptTarget.Latest, true);
  const found = file.statements.find((one) => ts.isClassDeclaration(one) && one.name?.text === name);
  if (found === undefined) throw new Error(`no class ${name}`);
  const isHidden = (node: ts.Declaration): boolean =>
    (ts.getCombinedModifierFlags(node) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) !== 0 ||
    ts.getJSDocTags(node).some(({ tagName }) => tagName.text === 'internal');
  const members = (found as ts.ClassDeclaration).members.flatMap<ts.ClassElement | ts.ParameterDeclaration>((member) =>
    ts.isConstructorDeclaration(member)
      ? member.parameters.filter((one) => ts.isParameterPropertyDeclaration(one, member))
      : [member],
  );
  return [
    ...new Set(
      members.flatMap((one) =>
        one.name !== undefined && ts.isIdentifier(one.name) && !isHidden(one) ? [one.name.text] : [],
      ),
    ),
  ];
};

const exporter = { export: () => {}, shutdown: async () => {} };

describe('options', () => {
  test('of configure and Collector', () => {
    const names = [...optionsOf((options) => new Collector(options)), 'disabled', 'development'];
    // The two of configure alone: refused when they are wrong, so they are known.
    for (const name of ['disabled', 'development']) expect(() => configure({ [name]: 1 })).toThrow(name);
    expect(missing(names, section('collector.md', 'Options') + section('collector.md', 'Bounds'))).toEqual([]);
  });

  test('of an archive and its server', () => {
    const names = (error: unknown): string[] => (error as Error).message.split('its options are ')[1].split(', ');
    const known = () => resolveServerOptions({ archive: { search: () => {} }, noSuchOption: 1 } as never);
    expect(missing(Object.keys(ARCHIVE_DEFAULTS), page('archive.md'))).toEqual([]);
    try {
      known();
      expect.unreachable();
    } catch (error) {
      expect(missing(names(error), page('archive.md'))).toEqual([]);
    }
  });

  test('the defaults of an archive are what its page says', () => {
    const shown = (value: number | boolean): string =>
      typeof value === 'number' && value % 2 ** 20 === 0 ? `${value / 2 ** 20} MiB` : value.toLocaleString('en-US');
    const reported = new Map<string, string>();
    const [table] = page('archive.md').split('| option of `Archive.open` |')[1].split('\n\n');
    for (const [, names, defaults] of table.matchAll(/^\| (`\w+`(?:, `\w+`)*) \| ([^|]+) \|/gm)) {
      const values = defaults.replaceAll('`', '').split(/, /);
      for (const [i, name] of names.replaceAll('`', '').split(', ').entries()) reported.set(name, values[i]);
    }
    for (const [name, value] of Object.entries(ARCHIVE_DEFAULTS))
      expect(`${name} ${reported.get(name)}`).toBe(`${name} ${shown(value)}`);
  });

  test('of a CpuReporter', () => {
    const names = optionsOf((options) => new CpuReporter(new MemoryReporter(), options));
    expect(missing(names, page('profiling.md'))).toEqual([]);
  });

  test('of traced', () => {
    expect(missing(optionsOf(traced), section('spans.md', 'Decorators and wrappers'))).toEqual([]);
  });

  test.each<[string, string[]]>([
    [
      'Jaeger',
      (['thrift-compact-udp', 'thrift-http'] as const).flatMap((protocol) =>
        optionsOf((options) => new JaegerReporter(options), { protocol }),
      ),
    ],
    ['OTLP', optionsOf((options) => new OtlpReporter(options))],
    ['File', optionsOf((options) => new FileReporter(options), { path: 'x' })],
    ['Any OpenTelemetry SDK exporter', optionsOf((options) => new OtelSdkReporter(exporter, options))],
    ['Console', optionsOf((options) => new ConsoleReporter(options))],
    ['Memory', optionsOf((options) => new MemoryReporter(options))],
  ])('of the reporter under "%s"', (title, names) => {
    expect(missing(names, section('exporters.md', title))).toEqual([]);
  });
});

const docs = readdirSync(join(root, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map(page)
  .join('\n');

test('every code of an error or a warning has a place in the docs', () => {
  const codes = sourceFiles
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => sourceText(name).match(CODE) ?? []);
  expect(codes).toContain('ERR_SPANLINE_CLOCK');
  // What `profile run` tells its child is not code.
  const reported = new Set(codes.filter((code) => code !== 'SPANLINE_PROFILE_RUN'));
  expect(missing([...reported], docs)).toEqual([]);
});

/** The names of each entry, as the fixture has them: a heading an entry, and the names below it. */
const publicNames = async (): Promise<string> => {
  // Without what is loaded for what it does, not for its names.
  const documented = entries.filter(({ name }) => name !== 'spanline/register');
  const parts = await Promise.all(
    documented.map(async ({ name, file }) => {
      const exported = Object.keys(await import(join(root, file)));
      const names = [...new Set([...exported, ...exportsOf(sourceText(file))])].sort();
      return `# ${name}\n${names.join('\n')}\n`;
    }),
  );
  return parts.join('\n');
};

describe('names', () => {
  // `npm run docs:api` shows them with their signatures. A name that comes or goes is a line in the changelog.
  test('public names change only together with public-names.txt (npx vitest run -u)', async () => {
    await expect(await publicNames()).toMatchFileSnapshot('public-names.txt');
  });

  const used = `${page('spans.md')}${page('collector.md')}${page('exporters.md')}`;
  test.each([
    ['span/span.ts', 'Span', ['Span.current', 'Span.addLink', 'Span.isRecording']],
    ['span/span-context.ts', 'SpanContext', ['SpanContext.withSampled', 'SpanContext.fromTraceId']],
    ['span/active-trace.ts', 'TraceCollector', ['TraceCollector.collect']],
    ['local-span/local-span.ts', 'LocalSpan', ['LocalSpan.isRecording']],
    ['local-span/local-collector.ts', 'LocalCollector', ['LocalCollector.collect']],
    ['collector/collector.ts', 'Collector', ['Collector.shutdown']],
    ['record/record.ts', 'SpanRecord', ['SpanRecord.isLocal']],
    ['record/record.ts', 'EventRecord', ['EventRecord.timeUnixNs']],
    ['record/record.ts', 'TraceIdentity', ['TraceIdentity.isRandom']],
    ['collector/reporter.ts', 'ReportError', ['ReportError.retryAfterMs']],
  ])('of what a program can use, in %s: %s', (file, name, some) => {
    const members = membersOf(readFileSync(join(root, 'src', file), 'utf8'), name);
    expect(members).toEqual(expect.arrayContaining(some.map((one) => one.split('.')[1])));
    const inCode = new Set(used.match(/\w+/g));
    expect(members.filter((member) => !inCode.has(member))).toEqual([]);
  });
});

describe('counters', () => {
  const collector = new Collector();
  collector.setReporter(new MemoryReporter());
  const own = collector.stats();

  test('of stats(), of a collector and of each reporter in it', () => {
    const names = [...Object.keys(stats()), ...Object.keys(stats().clock), ...Object.keys(own)];
    names.push(...Object.keys(own.reporters.memory));
    expect(missing(names, section('collector.md', 'stats()'))).toEqual([]);
  });

  test.each<[string, Reporter]>([
    ['Jaeger', new JaegerReporter({ protocol: 'thrift-compact-udp' })],
    ['Jaeger', new JaegerReporter({ protocol: 'thrift-http' })],
    ['OTLP', new OtlpReporter()],
    ['File', new FileReporter({ path: 'x' })],
    ['File', new FileReporter({ path: 'x', format: 'jaeger-json' })],
    ['Any OpenTelemetry SDK exporter', new OtelSdkReporter(exporter)],
    ['Console', new ConsoleReporter()],
    ['Memory', new MemoryReporter()],
  ])('of the reporter under "%s"', (title, reporter) => {
    expect(missing(Object.keys(reporter.stats?.() ?? {}), section('exporters.md', title))).toEqual([]);
  });

  test('of CPU profiles', async () => {
    const profiler = await continuousProfiler({ sink: () => {} });
    await profiler.stop();
    const names = [profileStats(), profileStats().counters].flatMap(Object.keys);
    const { pauses, dropped, sinkErrors } = profiler.stats();
    names.push(...Object.keys({ pauses, dropped, sinkErrors }));
    expect(missing(names, page('profiling.md'))).toEqual([]);
  });

  test('of an archive, its reporter and its server', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'spanline-docs-'));
    const archive = await Archive.open(directory);
    const server = await createArchiveServer({ archive, port: 0 });
    const { otlp, ...counted } = server.stats();
    const names = [await archive.stats(), new ArchiveReporter(archive).stats(), otlp, counted].flatMap(Object.keys);
    await server.close();
    await archive.close();
    rmSync(directory, { recursive: true });
    expect(missing(names, page('archive.md'))).toEqual([]);
  });
});
