// Every option that is accepted and every counter that is shown has a place on the page that is about it.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { Archive } from '../../src/archive/archive.js';
import { ARCHIVE_DEFAULTS } from '../../src/archive/archive-options.js';
import { ArchiveReporter } from '../../src/archive/archive-reporter.js';
import { createArchiveServer } from '../../src/archive/server/archive-server.js';
import { resolveServerOptions } from '../../src/archive/server/server-options.js';
import { ConsoleReporter } from '../../src/exporters/console.js';
import { FileReporter } from '../../src/exporters/file.js';
import { JaegerReporter } from '../../src/exporters/jaeger.js';
import { MemoryReporter } from '../../src/exporters/memory.js';
import { OtelSdkReporter } from '../../src/exporters/otel-sdk.js';
import { OtlpReporter } from '../../src/exporters/otlp.js';
import { Collector, configure, type Reporter, stats, traced } from '../../src/index.js';
import { CpuReporter, continuousProfiler, stats as profileStats } from '../../src/profile/index.js';

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
    const known = /(?:Known:|it knows) (.+)\.$/.exec((error as Error).message);
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

const exporter = { export: () => {}, shutdown: async () => {} };

describe('options', () => {
  test('of configure and Collector', () => {
    const names = [...optionsOf((options) => new Collector(options)), 'disabled', 'development'];
    // The two of configure alone: refused when they are wrong, so they are known.
    for (const name of ['disabled', 'development']) expect(() => configure({ [name]: 1 })).toThrow(name);
    expect(missing(names, section('collector.md', 'Options') + section('collector.md', 'Bounds'))).toEqual([]);
  });

  test('of an archive and its server', () => {
    const names = (error: unknown): string[] => (error as Error).message.split('it knows ')[1].split(', ');
    const known = () => resolveServerOptions({ archive: { search: () => {} }, noSuchOption: 1 } as never);
    expect(missing(Object.keys(ARCHIVE_DEFAULTS), page('archive.md'))).toEqual([]);
    try {
      known();
      expect.unreachable();
    } catch (error) {
      expect(missing(names(error), page('archive.md'))).toEqual([]);
    }
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

test('every error code of what is imported has a place in the docs', () => {
  const files = ['clock', 'local-span', 'span', 'collector', 'exporters', 'profile', 'graph', 'archive'].flatMap(
    (room) =>
      readdirSync(join(root, 'src', room), { recursive: true, encoding: 'utf8' }).map((name) => join(room, name)),
  );
  const codes = files
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => readFileSync(join(root, 'src', name), 'utf8').match(/\b(ERR_)?SPANLINE_[A-Z_]+(?=['`])/g) ?? []);
  const docs = readdirSync(join(root, 'docs')).map(page).join('\n');
  expect(missing([...new Set(codes)], docs)).toEqual([]);
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
