// Bundles src into dist/esm and dist/cjs: one file per public entry, and the recording core and the labels in a shared chunk each,
// so that their calls stay inside one module, with what the core takes from the base beside it. Functions and classes must keep their names and
// ES modules their lines, or nobody can read a stack; and there must never be a getter between two chunks: it would be called on every access.
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

/** Rooms whose calls into each other are on the hot path: V8 takes what another chunk exports for variable, and looks each time. */
const CORE =
  /\/src\/((clock|local-span|span|collector)\/|trace\/(record|dropped-properties)\.ts|flight-recorder\/install\.ts)/;
/** What the core and most others take from the base: a chunk of its own, or who takes it would load the first chunk that has it. */
const BASE = /\/src\/base\/(errors|options|calls|maps|text\/escape-text)/;
const FILES = /\/src\/base\/files\//;
/** What nearly every command loads: a file is dearer than its lines. */
const COMMAND =
  /\/src\/cli\/(archive-options|columns|exit-code|interrupt|options|output|package|progress|terminal)\.ts$/;
const LABELS = /\/src\/profile\/(join\/)?[\w-]+\.ts$/;

const manifest = () => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Loaded as a module it lets the program wait, which CommonJS cannot: an entry of each kind. */
const MODULES_ONLY = { 'register/preload': './src/register/preload.ts' };
const COMMONJS_ONLY = { 'register/index': './src/register/require.ts', 'register/api': './src/register/api.ts' };

/** What the library loads late, as a thread of its own or when an option asks for it; it finds the file by this name. */
const LATE = {
  'archive/archive-worker': './src/archive/archive-worker.ts',
  'flight-recorder/recorder-room': './src/flight-recorder/recorder-room.ts',
};

/** Entries that no program imports: the command and what it loads into other processes, and the clock as the benchmarks read it. */
const UNLISTED = {
  'cli/main': './src/cli/main.ts',
  'cli/bench/otlp-sink': './src/cli/bench/overhead/otlp-sink.ts',
  'cli/profile/preload': './src/cli/profile/preload.ts',
  'cli/profile/agent': './src/cli/profile/agent.ts',
  'clock/index': './src/clock/index.ts',
};

/** Output name -> source file, for every entry that package.json exports. The package tests find one without a source. */
function libraryEntries() {
  const found = {};
  for (const target of Object.values(manifest().exports)) {
    if (typeof target === 'string') continue;
    const name = target.import.default.replace(/^\.\/dist\/esm\/(.*)\.js$/, '$1');
    if (existsSync(join(root, `src/${name}.ts`))) found[name] = `./src/${name}.ts`;
  }
  return found;
}

function rewriteScripts(dir, rewrite) {
  for (const name of readdirSync(dir, { recursive: true }).filter((file) => file.endsWith('.js'))) {
    const file = join(dir, name);
    writeFileSync(file, rewrite(readFileSync(file, 'utf8'), file));
  }
}

/**
 * `exports.x` as plain data in the chunks at `dir`. Right because our chunks import each other without cycles and export
 * no reassigned binding.
 */
function makeExportsPlain(dir) {
  const getter =
    /Object\.defineProperty\(exports, "([\w$]+)", \{\s*enumerable: true,\s*get: function\(\) \{\s*return ([\w$]+);\s*\}\s*\}\);/g;
  rewriteScripts(dir, (text) => text.replace(getter, 'exports.$1 = $2;'));
}

const IMPORT = /^import (?:(?:\* as )?(\w[\w$]*)(?:, )?)?(?:\{ (.*?) \})? ?from "(node:[\w/]+)";$/gm;

/**
 * Node's own modules without their facade for ES modules, which asks every export for its value: of `node:fs`, `node:util` or `node:crypto`
 * that loads twenty modules more that nobody uses, a third of the time that a start takes.
 */
function takeBuiltinsDirectly(dir) {
  rewriteScripts(dir, (text) =>
    text.replace(IMPORT, (_line, whole, names, id) => {
      const module = `process.getBuiltinModule("${id}")`;
      const targets = [whole, names && `{ ${names.replaceAll(' as ', ': ')} }`].filter(Boolean);
      return `const ${targets.map((target) => `${target} = ${module}`).join(', ')};`;
    }),
  );
}

/**
 * Shorter names for variables; functions and classes keep theirs, which stacks, profiles and heap snapshots show. The package holds all code
 * twice, and the CommonJS half is what bundlers, Jest and programs that were told so load: it gives up its lines too.
 */
async function shorten(dir, format) {
  const { minifySync } = await import('rolldown/utils');
  rewriteScripts(dir, (text, file) => {
    const { code, errors } = minifySync(file, text, {
      module: format === 'esm',
      // Nothing that changes what is executed: the code that is measured and tested as sources is the code that runs.
      compress: false,
      mangle: { toplevel: true, keepNames: true },
      codegen: { removeWhitespace: format === 'cjs' },
    });
    if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
    return code;
  });
}

async function bundleAs(format, input) {
  const { rolldown } = await import('rolldown');
  const { dependencies, peerDependencies } = manifest();
  const build = await rolldown({
    input,
    cwd: root,
    platform: 'node',
    external: Object.keys({ ...dependencies, ...peerDependencies }),
    transform: { target: 'node20' },
    onLog(level, log) {
      if (level === 'warn') throw new Error(`rolldown: ${log.message}`);
    },
  });
  const fresh = join(root, 'dist', `.${format}-new`);
  rmSync(fresh, { recursive: true, force: true });
  await build.write({
    dir: fresh,
    format: format === 'esm' ? 'es' : 'cjs',
    comments: false,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    minifyInternalExports: false,
    codeSplitting: {
      groups: [
        { name: 'base', test: BASE, priority: 1 },
        { name: 'files', test: FILES, priority: 1 },
        { name: 'command', test: COMMAND, priority: 1 },
        { name: 'core', test: CORE },
        { name: 'labels', test: LABELS },
      ],
    },
  });
  await build.close();
  if (format === 'esm') takeBuiltinsDirectly(fresh);
  if (format === 'cjs') makeExportsPlain(join(fresh, 'chunks'));
  await shorten(fresh, format);
  if (format === 'cjs') {
    // The ES modules need none: the package itself says "module", and only then can they refer to it by its name.
    writeFileSync(join(fresh, 'package.json'), '{ "type": "commonjs" }\n');
  }
  return fresh;
}

/** Both formats; an old build stays in place until the new one is complete. */
export async function bundle() {
  const { 'register/preload': _, ...listed } = libraryEntries();
  const library = { ...listed, 'register/index': './src/register/index.ts', ...LATE };
  const esm = await bundleAs('esm', { ...library, ...MODULES_ONLY, ...UNLISTED });
  chmodSync(join(esm, 'cli/main.js'), 0o755);
  const cjs = await bundleAs('cjs', { ...library, ...COMMONJS_ONLY });
  for (const [format, fresh] of Object.entries({ esm, cjs })) {
    const place = join(root, 'dist', format);
    rmSync(place, { recursive: true, force: true });
    renameSync(fresh, place);
  }
}
