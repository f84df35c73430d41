// The map of the tree in CONTRIBUTING.md has every folder of sources, two levels deep, and about as many lines as they have; and what pages say of files,
// of one another and of entry points is there.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, test } from 'vitest';
import { packages } from '../../scripts/lib/packages.mjs';
import { root } from '../support/built.js';
import { sourceFiles, sourceFolders, sourceText } from '../support/sources.js';

/** A figure may be so much away, and so many lines: the map says how large things are. */
const SHARE = 0.25;
const LINES = 150;

/** Folders of the map, `src/base`, and their lines. */
const mapped = (): Map<string, number> => {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const [, block] = /```\n(src .*?)```/s.exec(text) ?? [];
  const found = new Map<string, number>();
  let outer = '';
  for (const [, indent, name, lines] of (block ?? '').matchAll(/^( *)([\w/-]+) +([\d,]+)/gm)) {
    if (indent === '') outer = name === 'src' ? name : `${name}/src`;
    found.set(indent === '' ? outer : `${outer}/${name}`, Number(lines.replaceAll(',', '')));
  }
  return found;
};

/** Lines of the folders of sources and of those in them. */
const counted = (): Map<string, number> => {
  const lines = new Map<string, number>();
  for (const file of sourceFiles) {
    const outer = sourceFolders.find((folder) => file.startsWith(`${folder}/`)) as string;
    const [inner, ...rest] = file.slice(outer.length + 1).split('/');
    const count = sourceText(file).split('\n').length - 1;
    for (const folder of rest.length === 0 ? [outer] : [outer, `${outer}/${inner}`])
      lines.set(folder, (lines.get(folder) ?? 0) + count);
  }
  return lines;
};

test('the map has all folders, and no other', () => {
  expect([...mapped().keys()].sort()).toEqual([...counted().keys()].sort());
});

test('their lines are about those of the map', () => {
  const map = mapped();
  const wrong = [...counted()].filter(([folder, lines]) => {
    const said = map.get(folder) ?? 0;
    return Math.abs(said - lines) > Math.max(LINES, SHARE * lines);
  });
  expect(wrong).toEqual([]);
});

/** The pages of the repository: path -> text. The changelog names what was. */
const pages = new Map(
  [
    'README.md',
    'CONTRIBUTING.md',
    ...readdirSync(join(root, 'docs'), { encoding: 'utf8' }).map((name) => `docs/${name}`),
    ...packages.map(({ folder }) => posix.join(folder, 'README.md')),
  ]
    .filter((path) => path.endsWith('.md'))
    .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
);

const wrongIn = (pattern: RegExp, isRight: (match: string, page: string) => boolean): string[] => {
  const found = [...pages].flatMap(([page, text]) => [...text.matchAll(pattern)].map(([, match]) => [page, match]));
  expect(found.length).toBeGreaterThan(20);
  return found.filter(([page, match]) => !isRight(match, page)).map((one) => one.join(': '));
};

test('files and folders of the repository that pages name are there', () => {
  const path = /`((?:src|packages|test|scripts|bench|docs|native|examples)\/[\w./-]+)`/g;
  expect(wrongIn(path, (match) => match.includes('NAME') || existsSync(join(root, match)))).toEqual([]);
});

const withoutCode = (text: string): string => text.replace(/^```.*?^```$/gms, '');

/** The anchors of a page's headings, as GitHub makes them. */
const anchorsOf = (page: string): readonly string[] =>
  [...withoutCode(pages.get(page) ?? '').matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

test('links between pages lead to files and headings', () => {
  const isThere = (match: string, page: string): boolean => {
    const [path, anchor] = match.split('#');
    const file = path === '' ? page : posix.join(posix.dirname(page), path);
    if (!existsSync(join(root, file))) return false;
    return anchor === undefined || !pages.has(file) || anchorsOf(file).includes(anchor);
  };
  expect(wrongIn(/\]\((?!https?:)([^)\s]+)\)/g, isThere)).toEqual([]);
});

test('what pages import packages of ours export', () => {
  const entries = packages.flatMap(({ folder }) => {
    const { name, exports } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    return Object.keys(exports ?? {}).map((path) => `${name}${path.slice(1)}`);
  });
  const name = /(?:['`]|--import )((?:@spanline\/[a-z-]+|spanline)\/[a-z/-]+)(?=['`\s])/g;
  // With a slash at its end it begins names of scopes.
  const isKnown = (match: string): boolean =>
    match.endsWith('/') ||
    entries.includes(match) ||
    packages.some(({ folder }) => folder === match.replace('@spanline', 'packages'));
  expect(wrongIn(name, isKnown)).toEqual([]);
});
