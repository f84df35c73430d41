// speedscope's published files without what no profile of ours needs: its examples, a decoder of Java's profiles, a reader of mangled names of
// C++, a font and icons. What is cut must be there exactly once: another version of speedscope fails here, not at a user's.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** The one of `found`, which is `what` in speedscope. */
function only(found, what) {
  const all = [...found];
  if (all.length !== 1) throw new Error(`speedscope is not as it was: ${what} is there ${all.length} times`);
  return all[0];
}

function replaceOnly(text, form, by, what) {
  const { 0: old, index } = only(text.matchAll(form), what);
  return text.slice(0, index) + by + text.slice(index + old.length);
}

/** A module that holds WebAssembly in base64, a quarter of the program; without it a name is shown as it is. */
const READER_OF_NAMES =
  /\((\w+),(\w+)\)=>\{"use strict";var \w+=async function\(\w+=\{\}\)\{.*?\.wasm_demangle=.*?\.exports\.default=\w+\}/gs;
const NO_READER = '(e,m)=>{m.exports=m.exports.default=async()=>({wasm_demangle:()=>""})}';

const FILES = [
  [/^speedscope-\w+\.js$/, (text) => replaceOnly(text, READER_OF_NAMES, NO_READER, 'the reader of names')],
  [/^speedscope-\w+\.css$/, (text) => replaceOnly(text, /@font-face\{[^}]*\}/g, '', 'the font')],
  [/^index\.html$/, (text) => text.replace(/ *<link rel="icon".*>\n/g, '')],
];

/** Write them to `directory`. */
export function copySpeedscope(directory) {
  const source = dirname(require.resolve('speedscope/package.json'));
  const release = join(source, 'dist/release');
  mkdirSync(directory, { recursive: true });
  for (const [form, change] of FILES) {
    const name = only(
      readdirSync(release).filter((file) => form.test(file)),
      String(form),
    );
    writeFileSync(join(directory, name), change(readFileSync(join(release, name), 'utf8')));
  }
  copyFileSync(join(source, 'LICENSE'), join(directory, 'LICENSE'));
}
