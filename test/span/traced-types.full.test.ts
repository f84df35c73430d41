// The types of traced(), trace() and spans hold: every @ts-expect-error in traced.types.ts is an error, and no other line is.
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { root } from '../support/child.js';

test('traced.types.ts', () => {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(
    { ...config, include: [], files: ['test/span/traced.types.ts'] },
    ts.sys,
    root,
  );
  const program = ts.createProgram([join(root, 'test/span/traced.types.ts')], options);
  const problems = ts.getPreEmitDiagnostics(program).map((one) => {
    const at = one.file?.getLineAndCharacterOfPosition(one.start ?? 0).line ?? 0;
    return `${one.file?.fileName}:${at + 1} ${ts.flattenDiagnosticMessageText(one.messageText, '\n')}`;
  });
  expect(problems).toEqual([]);
});
