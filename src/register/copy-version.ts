// The version of the copy of OpenTelemetry's API that calls. A copy does not export it, so it is read where the call comes from: in the package that
// the file belongs to, or in the bundle around that place. Must be right or undefined: it is for what happens a few times in a process.
import { readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Mark, mark } from '../base/calls/mark.js';

const LITERAL = /(["'`])(1\.\d+\.\d+(?:-[\w.]+)?)\1/g;
const NAMED = /\bVERSION\w*\s*[=:]\s*$/;
/** From the code that compares versions to the version, in a bundle that has both from the modules of one package. */
const NEAR = 6000;

const offsetOf = (text: string, { line, column }: Mark): number => {
  let at = 0;
  for (let left = line; left > 0; left--) at = text.indexOf('\n', at) + 1;
  return at + column;
};

/** The version that the text names closest to a place: bundlers write the modules of a package one behind the other. */
export const versionIn = (text: string, place: Mark): string | undefined => {
  const at = offsetOf(text, place);
  const found = [...text.matchAll(LITERAL)]
    .map(({ 2: version, index }) => ({
      version,
      distance: Math.abs(index - at),
      isNamed: NAMED.test(text.slice(Math.max(0, index - 40), index)),
    }))
    .sort((a, b) => a.distance - b.distance);
  const [first] = found;
  if (first === undefined || first.distance <= NEAR) return first?.version;
  return (found.find(({ isNamed }) => isNamed) ?? first).version;
};

/** That of the package of the API which a file belongs to. */
const versionOfPackage = (file: string): string | undefined => {
  const folder = `${sep}@opentelemetry${sep}api${sep}`;
  const at = file.lastIndexOf(folder);
  if (at < 0) return undefined;
  const manifest = join(file.slice(0, at), folder, 'package.json');
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version?: string };
  return version;
};

/** Of the copy that has called so many calls further out; undefined where its code is in no file. */
export const versionOfCaller = (calls: number): string | undefined => {
  const place = mark(calls + 1);
  if (place === undefined || !place.url.startsWith('file:')) return undefined;
  try {
    const file = fileURLToPath(place.url);
    return versionOfPackage(file) ?? versionIn(readFileSync(file, 'utf8'), place);
  } catch {
    return undefined;
  }
};
