// Bundles src into dist/cjs, one file per public entry, and the recording core and the labels in a shared chunk each, so that their calls stay
// inside one module; and makes dist/esm of it, a module beside each entry, so that there is one copy of all code in a process. Functions and
// classes must keep their names and files their lines, or nobody can read a stack; and there must never be a getter between two chunks: it
// would be called on every access.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root } from './run.mjs';
import { refuseCycles, toCommonJs } from './to-commonjs.mjs';

/** Rooms whose calls into each other are on the hot path: V8 takes what another chunk exports for variable, and looks each time. */
const CORE =
  /\/src\/((clock|local-span|span|collector)\/|trace\/(record|dropped-properties)\.ts|flight-recorder\/install\.ts)/;
/** What the core and most others take from the base: a chunk of its own, or who takes it would load the first chunk that has it. */
const BASE = /\/src\/base\/(errors|options|calls|maps|package-root|text\/escape-text)/;
const FILES = /\/src\/base\/files\//;
/** What nearly every command loads: a file is dearer than its lines. */
const COMMAND =
  /\/src\/cli\/(archive-options|columns|exit-code|interrupt|options|output|package|progress|terminal)\.ts$/;
const LABELS = /\/src\/profile\/(join\/)?[\w-]+\.ts$/;

const manifest = () => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** What lets a program wait until something has begun, as only a module can: written beside the module that it waits for, as it is. */
const WAITING = ['register/preload', 'cli/profile/preload'];

/** What the library loads late: as a thread of its own, or when an option asks for it. It finds the file by this name. */
const LATE = {
  'archive/archive-worker': './src/archive/archive-worker.ts',
  'flight-recorder/recorder-room': './src/flight-recorder/recorder-room.ts',
};

/** Entries that no program imports: the command and what it loads into other processes, and the clock as the benchmarks read it. */
const UNLISTED = {
  'cli/main': './src/cli/main.ts',
  'cli/bench/otlp-sink': './src/cli/bench/overhead/otlp-sink.ts',
  'cli/profile/profile-child': './src/cli/profile/profile-child.ts',
  'cli/profile/agent': './src/cli/profile/agent.ts',
  'clock/index': './src/clock/index.ts',
  // Not inside the entry that modules import, which Node 20 reads character by character: with it that takes 45 ms of CPU more.
  'register/api': './src/register/api.ts',
};

/** Output name -> source file, for every entry that package.json exports. The package tests find one without a source. */
function libraryEntries() {
  const found = {};
  for (const target of Object.values(manifest().exports)) {
    if (typeof target === 'string') continue;
    const name = target.require.default.replace(/^\.\/dist\/cjs\/(.*)\.js$/, '$1');
    if (existsSync(join(root, `src/${name}.ts`))) found[name] = `./src/${name}.ts`;
  }
  return found;
}

/** An empty folder for what will be dist/NAME. */
function freshFolder(name) {
  const dir = join(root, 'dist', `.${name}-new`);
  rmSync(dir, { recursive: true, force: true });
  return dir;
}

function rewriteScripts(dir, rewrite) {
  for (const name of readdirSync(dir, { recursive: true }).filter((file) => file.endsWith('.js'))) {
    const file = join(dir, name);
    writeFileSync(file, rewrite(readFileSync(file, 'utf8'), file));
  }
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
 * A script is sloppy unless its first statement says otherwise, and a module never is: plain calls would get `globalThis` for `this`, and
 * wrappers would pass it on. On the line of the first statement, so that lines stay what they are.
 */
const strict = (code) => code.replace(/^(#!.*\n)?/, (start) => `${start}"use strict";`);

/**
 * Shorter names for variables, and no indentation, which is a thirtieth of the package. Functions and classes keep their names, and the code its
 * lines: stacks, profiles and heap snapshots show both.
 */
async function writeCommonJs(dir) {
  const { minifySync, parseSync, Visitor } = await import('rolldown/utils');
  const parsed = (file, text) => {
    const result = parseSync(file, text);
    if (result.errors.length > 0) throw new Error(`${file}: ${result.errors[0].message}`);
    return result;
  };
  const outdented = (file, text) => {
    // In the text of a template tabs are part of the value.
    const texts = [];
    new Visitor({ TemplateElement: (element) => texts.push(element) }).visit(parsed(file, text).program);
    const isText = (at) => texts.some(({ start, end }) => start <= at && at < end);
    return text.replace(/^\t+/gm, (tabs, at) => (isText(at) ? tabs : ''));
  };
  rewriteScripts(dir, (text, file) => {
    const { code, errors } = minifySync(file, toCommonJs(text, parsed(file, text)), {
      module: false,
      // Nothing that changes what is executed: the code that is measured and tested as sources is the code that runs.
      compress: false,
      mangle: { toplevel: true, keepNames: true },
      codegen: { removeWhitespace: false },
    });
    if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
    return strict(outdented(file, code));
  });
  writeFileSync(join(dir, 'package.json'), '{ "type": "commonjs" }\n');
}

async function bundleCode(input) {
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
  const dir = freshFolder('cjs');
  const { output } = await build.write({
    dir,
    format: 'es',
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
  refuseCycles(new Map(output.map(({ fileName, imports }) => [fileName, imports])));
  takeBuiltinsDirectly(dir);
  await writeCommonJs(dir);
  return { dir, output };
}

/** The packages that a file requires as soon as it is loaded, by itself or by what it requires. */
function packagesOf(fileName, files, seen = new Set()) {
  const { imports = [] } = files.get(fileName) ?? {};
  if (seen.has(fileName)) return [];
  seen.add(fileName);
  return imports.flatMap((name) => (files.has(name) ? packagesOf(name, files, seen) : name));
}

/** A module for each entry, which gives what the entry exports: the code is there once, whoever loads it and how. */
async function writeModules(output) {
  const { minifySync } = await import('rolldown/utils');
  const dir = freshFolder('esm');
  const files = new Map(output.map((chunk) => [chunk.fileName, chunk]));
  const write = (name, text) => {
    const file = join(dir, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  for (const { isEntry, fileName, exports } of output) {
    if (!isEntry) continue;
    const code = `${relative(dirname(fileName), '../cjs')}/${fileName}`;
    // What is missing is an error of the import: what CommonJS throws ends a Node 20, whoever would catch it.
    const packages = packagesOf(fileName, files)
      .filter((name) => !name.startsWith('node:'))
      .map((name) => `import '${name}';\n`);
    const given =
      exports.length === 0
        ? `import '${code}';\n`
        : `import entry from '${code}';\nexport const { ${exports.join(', ')} } = entry;\n`;
    write(fileName, [...new Set(packages), given].join(''));
  }
  for (const name of WAITING) {
    const file = join(root, `src/${name}.ts`);
    write(
      `${name}.js`,
      minifySync(file, readFileSync(file, 'utf8'), { module: true, compress: false, mangle: false }).code,
    );
  }
  return dir;
}

/** An old build stays in place until the new one is complete. */
export async function bundle() {
  const code = await bundleCode({ ...libraryEntries(), ...LATE, ...UNLISTED });
  chmodSync(join(code.dir, 'cli/main.js'), 0o755);
  const esm = await writeModules(code.output);
  for (const [format, fresh] of Object.entries({ cjs: code.dir, esm })) {
    const place = join(root, 'dist', format);
    rmSync(place, { recursive: true, force: true });
    renameSync(fresh, place);
  }
}
