// Which mutants are tried: all that Stryker would make of the files, and of those a sample that stays the same while its files do.
// Must not depend on the order of files or on line numbers: a line more at the top of a file would otherwise change the whole sample.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { createInstrumenter } from '@stryker-mutator/instrumenter';
import { createInjector } from 'typed-inject';
import { root } from '../lib/run.mjs';

const SILENT = new Proxy({}, { get: (_, name) => (String(name).startsWith('is') ? () => false : () => {}) });

/** All mutants of these files, each with what it replaces and with a name that changes of other lines leave as it is. */
export async function mutantsOf(files) {
  const instrumenter = createInjector().provideValue('logger', SILENT).injectFunction(createInstrumenter);
  const texts = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
  const { mutants } = await instrumenter.instrument(
    files.map((name) => ({ name, mutate: true, content: texts.get(name) })),
    { plugins: null, excludedMutations: [], ignorers: [], noHeader: true },
  );
  const seen = new Map();
  return mutants.map(({ fileName, location, mutatorName, replacement }) => {
    const file = relative(root, fileName);
    const original = textAt(texts.get(fileName), location);
    const content = JSON.stringify([file, mutatorName, original, replacement]);
    const nth = (seen.get(content) ?? 0) + 1;
    seen.set(content, nth);
    return { file, location, mutatorName, original, replacement, name: `${content} ${nth}` };
  });
}

/** The `size` mutants whose names hash to the least numbers, which is a random choice for each seed. */
export function sampleOf(mutants, size, seed) {
  const rank = new Map(mutants.map((one) => [one, createHash('sha256').update(`${seed} ${one.name}`).digest('hex')]));
  return [...mutants].sort((a, b) => (rank.get(a) < rank.get(b) ? -1 : 1)).slice(0, size);
}

function textAt(text, { start, end }) {
  const lines = text.split('\n').slice(start.line, end.line + 1);
  lines[lines.length - 1] = lines.at(-1).slice(0, end.column);
  lines[0] = lines[0].slice(start.column);
  return lines.join('\n');
}
