// The entry @spanline/archive has every public name, and loading it loads no package but Node's own modules.
import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import * as entry from '../src/index.js';

test('names', () => {
  expect(Object.keys(entry)).toEqual(
    expect.arrayContaining([
      ...['Archive', 'ArchiveReporter', 'ARCHIVE_DEFAULTS', 'Segment', 'writeSegment', 'traceTrees'],
      ...['decodeOtlpJson', 'encodeOtlpJson', 'decodeOtlpProtobuf', 'decodeJaegerJson', 'encodeJaegerJson'],
      ...['createArchiveServer', 'GraphError', 'CorruptError', 'TraceFormatError'],
    ]),
  );
});

test('imports', async () => {
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL('../src/index.ts', import.meta.url))],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  const [output] = Object.values(metafile.outputs);
  const loaded = output.imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => path);
  expect(loaded.filter((path) => !isBuiltin(path))).toEqual([]);
});
