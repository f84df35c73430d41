// Hooks of its own give this program a CommonJS module that is in no file, and another source for one that is.
import { registerHooks } from 'node:module';

const SOURCES = { 'virtual-file': 'exports.from = "a hook";', 'other-file': 'exports.from = "another hook";' };
const nameIn = (url) => /\/([\w-]+)\.cjs$/.exec(url)?.[1];

registerHooks({
  resolve(name, context, next) {
    if (!(name in SOURCES)) return next(name, context);
    return { url: new URL(`./${name}.cjs`, import.meta.url).href, format: 'commonjs', shortCircuit: true };
  },
  load(url, context, next) {
    const source = SOURCES[nameIn(url)];
    return source === undefined ? next(url, context) : { format: 'commonjs', source, shortCircuit: true };
  },
});

for (const name of Object.keys(SOURCES)) {
  try {
    const { default: module } = await import(name);
    console.log(name, module.from);
  } catch (error) {
    console.log(name, error.code);
  }
}
