// Bundles src of a package into its dist/cjs, one file per entry, and the recording core and the labels in a shared chunk each, so that their calls
// stay inside one module; and makes dist/esm of it, a module beside each entry, so that there is one copy of all code in a process. Functions and
// classes must keep their names and files their lines, or nobody can read a stack; and there must never be a getter between two chunks: it
// would be called on every access.
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { codeEntries, inPackage, manifestOf, packages } from './packages.mjs';
import { refuseCycles, SIBLINGS, toCommonJs } from './to-commonjs.mjs';

/** An empty folder for what will be dist/NAME. */
function freshFolder(one, name) {
  const dir = inPackage(one, 'dist', `.${name}-new`);
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

const FOR_EFFECT = /^import "(\.[^"]+)";$/gm;

/**
 * Without imports, for their effect alone, of files that have none by the word of package.json: a chunk that holds a list of exports, which is
 * nothing once it is bundled, would be loaded with it.
 */
function dropIdleImports(one, dir) {
  const { sideEffects } = manifestOf(one);
  if (sideEffects === undefined) return;
  const files = new Set((sideEffects || []).map((path) => path.replace('./dist/*/', '')));
  rewriteScripts(dir, (text, file) =>
    text.replace(FOR_EFFECT, (line, path) => (files.has(relative(dir, join(dirname(file), path))) ? line : '')),
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

/** With its names behind it an entry stays below 4 KB, which Node searches in 0.3 ms. */
const MAX_ENTRY_BYTES = 2048;

/**
 * Entries without their code, which stands beside them: a module that imports CommonJS has the whole file, and what it gives on by the form that Node
 * knows, searched for names first. Of the archive that takes 28 ms.
 */
function shortenEntries(one, dir, output) {
  const exportsOf = new Map(output.map(({ fileName, exports }) => [fileName, exports]));
  for (const name of Object.keys(codeEntries(one))) {
    const file = join(dir, `${name}.js`);
    // What is never run names the exports for modules that import this very file.
    const names = `0 && (module.exports = { ${exportsOf.get(`${name}.js`).join(', ')} });\n`;
    if (statSync(file).size <= MAX_ENTRY_BYTES) {
      appendFileSync(file, names);
      continue;
    }
    renameSync(file, join(dir, `${name}.code.js`));
    const lines = ['"use strict";', `const entry = require("./${basename(name)}.code.js");`, 'module.exports = entry;'];
    writeFileSync(file, `${lines.join('\n')}\n${names}`);
  }
}

async function bundleCode(one) {
  const { rolldown } = await import('rolldown');
  const { dependencies, peerDependencies } = manifestOf(one);
  const build = await rolldown({
    input: { ...codeEntries(one), ...one.extra },
    cwd: inPackage(one),
    platform: 'node',
    external: [SIBLINGS, ...Object.keys({ ...dependencies, ...peerDependencies })],
    transform: { target: 'node20' },
    // It puts what late files share into the file that is loaded first.
    experimental: { chunkOptimization: false },
    onLog(level, log) {
      if (level === 'warn') throw new Error(`rolldown: ${log.message}`);
    },
  });
  const dir = freshFolder(one, 'cjs');
  const { output } = await build.write({
    dir,
    format: 'es',
    comments: false,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    minifyInternalExports: false,
    codeSplitting: { groups: one.chunks },
  });
  await build.close();
  refuseCycles(new Map(output.map(({ fileName, imports }) => [fileName, imports])));
  dropIdleImports(one, dir);
  takeBuiltinsDirectly(dir);
  await writeCommonJs(dir);
  shortenEntries(one, dir, output);
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
async function writeModules(one, output) {
  const { minifySync } = await import('rolldown/utils');
  const dir = freshFolder(one, 'esm');
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
  for (const name of one.waiting) {
    const file = inPackage(one, `src/${name}.ts`);
    write(
      `${name}.js`,
      minifySync(file, readFileSync(file, 'utf8'), { module: true, compress: false, mangle: false }).code,
    );
  }
  return dir;
}

/** An old build stays in place until the new one is complete. The core, when no package is named. */
export async function bundle(one = packages[0]) {
  const code = await bundleCode(one);
  for (const name of one.programs) chmodSync(join(code.dir, `${name}.js`), 0o755);
  const esm = await writeModules(one, code.output);
  for (const [format, fresh] of Object.entries({ cjs: code.dir, esm })) {
    const place = inPackage(one, 'dist', format);
    rmSync(place, { recursive: true, force: true });
    renameSync(fresh, place);
  }
}
