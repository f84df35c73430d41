// The words of the field: what a thing is called in code, and how messages and pages say it. Words that only we would understand stay out, so that
// whoever reads one file, one error or one page knows what is meant.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { root } from './support/built.js';
import { sourceFiles } from './support/sources.js';

/** Words of names, in lower case, with what they should be. */
const NAMES: Readonly<Record<string, string>> = {
  wing: 'module',
  shelf: 'store',
  doors: 'codecs',
  lane: 'timeline',
  lanes: 'timelines',
  division: 'breakdown',
  divisions: 'breakdowns',
  keeper: 'observer, writer',
  told: 'reported, encoded',
  tells: 'reports',
  held: 'buffered',
  fate: 'outcome',
  guest: 'external',
  most: 'max',
  least: 'min',
};

/** Names in which such a word is what the field says. */
const FIELD_NAMES = /^(atMost|atLeast|atLeastOne|leastSquares)$/;

/** Names that are not ours any more, whole. */
const OLD_NAMES =
  /^(SpanLine|currentLine|enteredLine|lineOfSpan|underWay|letGo|isLetGo|isTold|keepWith|keepsNone|HeldSpans)$/;

/** What no message and no page says. Plain English that shares a word ("at most", "command line", "keep-alive") is not meant. */
const PHRASES: readonly RegExp[] = [
  /(?<!there )\bis no (?!longer|more|other|such|one|less|later|larger|slower|worse|faster|better|need|reason)\w+/i,
  /\bis no value\b|\bis no list\b/i,
  /\bunder way\b/i,
  /\blet go\b/i,
  /\bvouch/i,
  /\bbear out\b/i,
  /\btold (by|apart|from)\b/i,
  /\b(front door|way out|the house)\b/i,
  /\broom is not loaded\b/i,
  /\bwhat an earlier answer called\b/i,
  /\bthat which\b|\bwhich is to\b|\bthose that has\b/i,
];

const filesBelow = (folder: string, ending: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && !/\b(node_modules|dist)\b/.test(name))
    .map((name) => `${folder}/${name}`);

const tests = ['test', 'packages']
  .flatMap((folder) => filesBelow(folder, '.ts'))
  .filter((name) => /\btest\b/.test(name));
const pages = ['README.md', 'CONTRIBUTING.md', ...['docs', 'packages'].flatMap((folder) => filesBelow(folder, '.md'))];

const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

const parsed = (file: string, text: string): ts.SourceFile =>
  ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);

const placeOf = (file: ts.SourceFile, node: ts.Node): string =>
  `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;

const visitAll = (node: ts.Node, visit: (node: ts.Node) => void): void => {
  visit(node);
  ts.forEachChild(node, (child) => visitAll(child, visit));
};

/** A name where it is declared; where it is used it is that of somebody who may not be us. */
const declaredName = (node: ts.Node): string | undefined => {
  if (!ts.isIdentifier(node) && !ts.isPrivateIdentifier(node)) return undefined;
  const { parent } = node;
  if ((parent as { name?: ts.Node }).name !== node) return undefined;
  const isUse = ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent);
  return isUse || ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent) ? undefined : node.text.replace('#', '');
};

const wordsOf = (name: string): string[] => name.split(/(?=[A-Z][a-z])|_/).map((word) => word.toLowerCase());

const badName = (name: string): string | undefined => {
  if (OLD_NAMES.test(name)) return name;
  return FIELD_NAMES.test(name) ? undefined : wordsOf(name).find((word) => Object.hasOwn(NAMES, word));
};

/** Words that a file has anywhere, and that a name may not have: to parse a thousand files takes ten seconds. */
const mayHaveBadName = (text: string): boolean => {
  const words = new Set(text.match(/[\w$]+/g));
  return [...words].some((word) => badName(word) !== undefined);
};

test('names are those of the field', () => {
  const found: string[] = [];
  for (const path of [...sourceFiles, ...tests]) {
    const text = textOf(path);
    if (!mayHaveBadName(text)) continue;
    const file = parsed(path, text);
    visitAll(file, (node) => {
      const name = declaredName(node);
      const bad = name === undefined ? undefined : badName(name);
      if (bad !== undefined) found.push(`${placeOf(file, node)} ${name}: say ${NAMES[bad] ?? 'what docs say'}`);
    });
  }
  expect(sourceFiles.length).toBeGreaterThan(500);
  expect(found).toEqual([]);
});

const isText = (node: ts.Node): boolean =>
  ts.isStringLiteral(node) ||
  ts.isNoSubstitutionTemplateLiteral(node) ||
  ts.isTemplateExpression(node) ||
  ts.isJsxText(node);

test('messages say it in plain English', () => {
  const found: string[] = [];
  for (const path of sourceFiles) {
    const source = textOf(path);
    if (!PHRASES.some((phrase) => phrase.test(source))) continue;
    const file = parsed(path, source);
    visitAll(file, (node) => {
      const text = isText(node) ? node.getText() : '';
      const bad = text.includes(' ') ? PHRASES.find((phrase) => phrase.test(text)) : undefined;
      if (bad !== undefined) found.push(`${placeOf(file, node)} ${bad}: ${text.slice(0, 100)}`);
    });
  }
  expect(found).toEqual([]);
});

test('pages say it in plain English', () => {
  const found = pages.flatMap((path) =>
    textOf(path)
      .split('\n')
      .flatMap((line, i) => {
        const bad = PHRASES.find((phrase) => phrase.test(line));
        return bad === undefined ? [] : [`${path}:${i + 1} ${bad}: ${line.slice(0, 100)}`];
      }),
  );
  expect(pages.length).toBeGreaterThan(15);
  expect(found).toEqual([]);
});

test.each(['mostRows', 'MOST_ROWS', 'isTold', 'HeldSpans', 'currentLine'])('%s would be found', (name) => {
  expect(badName(name)).toBeDefined();
});

test.each(['atMost', 'maxRows', 'almost', 'threshold'])('%s is one of the field', (name) => {
  expect(badName(name)).toBeUndefined();
});
