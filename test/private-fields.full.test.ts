// Classes hide what is theirs by `#`; only code on the hot path, where `#` costs more, has the keyword `private`.
import ts from 'typescript';
import { expect, test } from 'vitest';
import { sourceFiles, sourceText } from './support/sources.js';

/** Modules and files that run while spans are recorded, once a span while they are encoded, or around the code of a label. */
const HOT = [
  'src/clock/',
  'src/rows/',
  'src/local-span/',
  'src/span/',
  'src/context/',
  'src/collector/trace-life.ts',
  'src/collector/trace-part.ts',
  'src/flight-recorder/block-maker.ts',
  'src/flight-recorder/open-spans.ts',
  'src/flight-recorder/tail/tail-file.ts',
  'src/formats/otlp/write-protobuf-properties.ts',
  'src/otel/otel-span.ts',
  'src/otel/tracer.ts',
  'src/record/properties.ts',
  'src/record/row-view.ts',
  'packages/profile/src/dynamic-label.ts',
  'packages/profile/src/trampoline-pool.ts',
  'packages/profile/src/join/span-labels.ts',
];

/** The members and parameters of `text` that are `private`. A constructor may be: there is no other way to say it. */
const privateNames = (file: string, text: string): string[] => {
  // Most files have not even the word.
  if (!/\bprivate\b/.test(text)) return [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (node.kind === ts.SyntaxKind.PrivateKeyword && !ts.isConstructorDeclaration(node.parent)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      found.push(`${file}:${line + 1}: write #${(node.parent as ts.PropertyDeclaration).name.getText()}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
};

const sources = sourceFiles.filter((file) => file.endsWith('.ts'));
const isOf = (hot: string, file: string): boolean => file.startsWith(hot);

test('off the hot path nothing is private but by #', () => {
  const cold = sources.filter((file) => !HOT.some((hot) => isOf(hot, file)));
  expect(cold.flatMap((file) => privateNames(file, sourceText(file)))).toEqual([]);
});

test('the list names only what has private members', () => {
  const isIn = (hot: string) =>
    sources.some((file) => isOf(hot, file) && privateNames(file, sourceText(file)).length > 0);
  expect(HOT.filter((hot) => !isIn(hot))).toEqual([]);
});

test('members, parameters and accessors are found, constructors are not', () => {
  const text = `class A { private x = 1; private get y() { return 1; } private constructor(private readonly z: number) {} static private *w() {} }`;
  expect(privateNames('a.ts', text).map((line) => line.split('#')[1])).toEqual(['x', 'y', 'z', 'w']);
});
