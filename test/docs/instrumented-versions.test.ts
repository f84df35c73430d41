// The table of versions in docs/instrumentation.md: what the code says of each library, and the versions that the tests install. It fails with the table that
// the page should have.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { instrumentationNames } from '../../src/instrument/instrument.js';
import { isOlder } from '../../src/instrument/untraced.js';
import { VERSIONS } from '../../src/instrument/versions.js';

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

type Locked = Record<string, { readonly name?: string; readonly version: string }>;
const lockOf = (path: string): Locked => (JSON.parse(read(path)) as { packages: Locked }).packages;

const FOLDER = /node_modules\/((?:@[^/]+\/)?[^/]+)/g;

/** Those that the tests name, some by another name, and what one of them has a copy of. */
const installedVersions = (): Map<string, string[]> => {
  const found = new Map<string, string[]>();
  const locked = { ...lockOf('package-lock.json'), ...lockOf('test/instrument/libraries/package-lock.json') };
  const nameAt = (path: string): string =>
    (locked[path]?.name ?? [...path.matchAll(FOLDER)].at(-1)?.[1] ?? '').replace(/^@(aws-sdk)\/client-.*/, '$1');
  for (const [path, { version }] of Object.entries(locked)) {
    const [outer, ...inner] = path.split(/\/(?=node_modules\/)/);
    if (inner.length > 1 || !(nameAt(outer) in VERSIONS)) continue;
    const name = nameAt(path);
    if (name in VERSIONS) found.set(name, [...(found.get(name) ?? []), version]);
  }
  return found;
};

const short = (version: string): string => version.replace(/(?:\.0)+$/, '');
const minorOf = (version: string): string => version.split('.').slice(0, 2).join('.');
const byVersion = (a: string, b: string): number => (a === b ? 0 : isOlder(a, b) ? -1 : 1);

const table = (): string => {
  const installed = installedVersions();
  const rows = Object.entries(VERSIONS).map(([name, { channels, patches }]) => {
    const first = patches ?? channels ?? '';
    const tested = (installed.get(name) ?? []).filter((one) => !isOlder(one, first)).sort(byVersion);
    const until = channels === undefined ? 'and later' : `to below ${short(channels)}`;
    const cells = [
      `\`${name}\``,
      channels === undefined ? '' : `${short(channels)} and later`,
      patches === undefined ? '' : `${short(patches)} ${until}`,
      [...new Set(tested.map(minorOf))].join(', '),
    ];
    return `| ${cells.join(' | ')} |`.replaceAll('|  |', '| |');
  });
  return ['| library | by channels | by patches | tested |', '| --- | --- | --- | --- |', ...rows, ''].join('\n');
};

test('the table is that of the code, and of the versions that are tested', () => {
  const page = read('docs/instrumentation.md');
  const start = page.indexOf('| library | by channels |');
  expect(page.slice(start, page.indexOf('\n\n', start) + 1)).toBe(table());
  expect(table()).not.toMatch(/\| +\|$/m);
});

test('it has each library that has an option', () => {
  const OF_NODE = ['http', 'http2', 'sqlite', 'workers', 'console'];
  const byOption = Object.keys(VERSIONS).map((name) =>
    name.replace('@trpc/server', 'trpc').replace(/^@hapi\/|^@grpc\/|-js$/g, ''),
  );
  expect(byOption).toEqual(expect.arrayContaining(instrumentationNames.filter((name) => !OF_NODE.includes(name))));
});
