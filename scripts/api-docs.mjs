// npm run docs:api [FOLDER]: every public name of all packages with its signature and its comment, as HTML made by TypeDoc (default folder: .tmp/api).
// It ends with 1 on any warning, such as a {@link} to a name that does not exist.
import { join, resolve } from 'node:path';
import { Application } from 'typedoc';
import { codeEntries, inPackage, manifestOf, packages } from './lib/packages.mjs';
import { failWith, root } from './lib/run.mjs';

/** Entries for sibling packages alone, and one that has no names. */
const WITHOUT_NAMES = /(^|\/)internal(\/|$)|^register\//;

const nameOf = (one, output) => `${manifestOf(one).name}/${output.replace(/(^|\/)index$/, '')}`.replace(/\/$/, '');

/** Name of an entry -> its source. */
const entries = new Map(
  packages.flatMap((one) =>
    Object.entries(codeEntries(one))
      .filter(([output]) => !WITHOUT_NAMES.test(output))
      .map(([output, source]) => [nameOf(one, output), inPackage(one, source)]),
  ),
);

try {
  const out = resolve(process.argv[2] ?? join(root, '.tmp/api'));
  const app = await Application.bootstrap({
    name: 'spanline',
    entryPoints: [...entries.values()],
    tsconfig: join(root, 'tsconfig.json'),
    readme: 'none',
    excludeInternal: true,
    excludePrivate: true,
    excludeProtected: true,
    excludeExternals: true,
    githubPages: false,
    // Comments of methods that its interfaces declare.
    externalSymbolLinkMappings: { '@opentelemetry/api': { '*': 'https://open-telemetry.github.io/opentelemetry-js/' } },
    disableGit: true,
    disableSources: true,
    skipErrorChecking: true,
    validation: { notExported: false, invalidLink: true, invalidPath: true, notDocumented: false },
    treatWarningsAsErrors: true,
    treatValidationWarningsAsErrors: true,
    logLevel: 'Warn',
  });
  const project = await app.convert();
  if (project === undefined) throw new Error('The sources cannot be read; npm run typecheck names the errors.');
  // Modules by the names that programs import.
  const byFile = new Map([...entries].map(([name, file]) => [file, name]));
  for (const module of project.children ?? []) {
    const file = app.files.getReflectionPath(module);
    module.name = byFile.get(file) ?? module.name;
  }
  app.validate(project);
  if (app.logger.hasWarnings() || app.logger.hasErrors()) throw new Error('TypeDoc has warnings; see above.');
  await app.generateDocs(project, out);
  console.log(`${entries.size} entries, ${out}/index.html`);
} catch (error) {
  failWith(error);
}
