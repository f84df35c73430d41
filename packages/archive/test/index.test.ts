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
    // What is imported when it is needed is a file of its own.
    splitting: true,
    outdir: 'out',
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  const { outputs } = metafile;
  const files = Object.keys(outputs).filter((file) => outputs[file].entryPoint?.endsWith('src/index.ts'));
  const packages = new Set<string>();
  for (const file of files) {
    for (const { path, kind, external } of outputs[file].imports) {
      if (kind !== 'import-statement') continue;
      if (external !== true) {
        if (!files.includes(path)) files.push(path);
      } else if (!isBuiltin(path)) packages.add(path);
    }
  }
  expect(files).not.toEqual([]);
  expect([...packages]).toEqual([]);
});
