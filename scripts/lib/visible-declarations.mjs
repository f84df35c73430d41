// Leaves of a package's declarations what its users can meet: what entries export, and whatever the public part of that refers to. All else
// would only be compiled by them. What is left must compile by itself, with every name that it uses.
import { dirname, join } from 'node:path';

/** Type, class, function, constants: what stands in a file, or in a `declare module`. */
const outermost = (ts, node) => {
  let top = node;
  while (!ts.isSourceFile(top.parent) && !ts.isModuleBlock(top.parent)) top = top.parent;
  return top;
};

const isPrivate = (ts, node) =>
  ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword);

/** What a class says it implements is checked where it is made, and says nothing to users. */
const isImplements = (ts, node) => ts.isHeritageClause(node) && node.token === ts.SyntaxKind.ImplementsKeyword;

const targetOf = (ts, checker, symbol) =>
  symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;

/** A whole module, as it is imported and exported under a name. */
const isModule = (ts, checker, symbol) => (targetOf(ts, checker, symbol).flags & ts.SymbolFlags.ValueModule) !== 0;

const declarationsOf = (ts, checker, symbol) =>
  (targetOf(ts, checker, symbol).declarations ?? [])
    .filter((one) => !ts.isSourceFile(one))
    .map((one) => outermost(ts, one));

/** The outermost declarations that can be met from `entries`; what a `declare module` adds is always met. */
function findVisible(ts, program, entries) {
  const checker = program.getTypeChecker();
  const visible = new Set();
  const meet = (symbol) => {
    if (symbol !== undefined) for (const one of declarationsOf(ts, checker, symbol)) visible.add(one);
  };
  const visit = (node) => {
    if (isPrivate(ts, node) || isImplements(ts, node)) return;
    if (ts.isIdentifier(node)) meet(checker.getSymbolAtLocation(node));
    ts.forEachChild(node, visit);
  };
  const meetExports = (module) => {
    for (const symbol of checker.getExportsOfModule(module)) {
      if (isModule(ts, checker, symbol)) meetExports(targetOf(ts, checker, symbol));
      else meet(symbol);
    }
  };
  for (const file of entries) meetExports(checker.getSymbolAtLocation(program.getSourceFile(file)));
  for (const file of program.getSourceFiles()) {
    for (const statement of file.statements) if (ts.isModuleDeclaration(statement)) visible.add(statement);
  }
  // Grows while it is gone through.
  for (const one of visible) visit(one);
  return visible;
}

function namesIn(ts, nodes) {
  const names = new Set();
  const visit = (node) => {
    if (isImplements(ts, node)) return;
    if (ts.isIdentifier(node)) names.add(node.text);
    ts.forEachChild(node, visit);
  };
  for (const node of nodes) visit(node);
  return names;
}

const listed = (elements) => `{ ${elements.map((element) => element.getText()).join(', ')} }`;

/** The import with those of its names that are in `used`; empty when there is none. */
function usedImport(ts, statement, used) {
  const bindings = statement.importClause?.namedBindings;
  if (bindings === undefined || !ts.isNamedImports(bindings)) return statement.getText();
  const names = bindings.elements.filter(({ name }) => used.has(name.text));
  const type = statement.importClause.isTypeOnly ? 'type ' : '';
  return names.length === 0 ? '' : `import ${type}${listed(names)} from ${statement.moduleSpecifier.getText()};`;
}

/** The export with those of its names that can be met; empty when there is none. */
function metExport(ts, statement, isMet) {
  const { exportClause, moduleSpecifier, isTypeOnly } = statement;
  if (exportClause === undefined || !ts.isNamedExports(exportClause)) return statement.getText();
  const names = exportClause.elements.filter(isMet);
  if (names.length === 0 && exportClause.elements.length > 0) return '';
  const from = moduleSpecifier === undefined ? '' : ` from ${moduleSpecifier.getText()}`;
  return `export ${isTypeOnly ? 'type ' : ''}${listed(names)}${from};`;
}

/** The text of a declaration with its comment, without what a class says it implements. */
function declared(ts, statement) {
  const clause = statement.heritageClauses?.find((one) => isImplements(ts, one));
  const text = statement.getFullText();
  if (clause === undefined) return text.trim();
  const at = (place) => place - statement.getFullStart();
  return (text.slice(0, at(clause.getFullStart())) + text.slice(at(clause.end))).trim();
}

/** A file without what nobody meets. */
function visiblePart(ts, checker, file, visible) {
  const isMet = ({ name }) => {
    const symbol = checker.getSymbolAtLocation(name);
    return isModule(ts, checker, symbol) || declarationsOf(ts, checker, symbol).some((one) => visible.has(one));
  };
  const used = namesIn(
    ts,
    file.statements.flatMap((one) => {
      if (ts.isExportDeclaration(one)) return one.exportClause?.elements?.filter(isMet) ?? [];
      return visible.has(one) ? [one] : [];
    }),
  );
  const written = (one) => {
    if (ts.isImportDeclaration(one)) return usedImport(ts, one, used);
    if (ts.isExportDeclaration(one)) return metExport(ts, one, isMet);
    return visible.has(one) ? declared(ts, one) : '';
  };
  return file.statements
    .map(written)
    .filter((text) => text !== '')
    .join('\n');
}

/**
 * The files that `entries` lead to, with what can be met from them.
 * @param {string[]} entries paths of .d.ts files
 * @returns {Promise<Map<string, string>>} path -> text
 */
export async function visibleDeclarations(entries, typeRoots) {
  const { default: ts } = await import('typescript');
  const { Node16: module } = ts.ModuleKind;
  const { Node16: moduleResolution } = ts.ModuleResolutionKind;
  const target = ts.ScriptTarget.ES2022;
  const program = ts.createProgram(entries, { module, moduleResolution, target, types: ['node'], typeRoots });
  const visible = findVisible(ts, program, entries);
  const texts = new Map();
  const add = (path) => {
    if (texts.has(path)) return;
    const text = visiblePart(ts, program.getTypeChecker(), program.getSourceFile(path), visible);
    texts.set(path, `${text}\n`);
    for (const { fileName } of ts.preProcessFile(text).importedFiles) {
      if (fileName.startsWith('.')) add(join(dirname(path), fileName.replace(/\.js$/, '.d.ts')));
    }
  };
  for (const entry of entries) add(entry);
  return texts;
}
