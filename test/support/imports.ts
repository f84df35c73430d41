// What a source file imports, in every form that TypeScript has, types included, and those by a literal name that Node has. Must leave out nothing: tests of borders between packages rest on it.
import ts from 'typescript';

export interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
  /** Names that it takes; undefined for all. */
  readonly names?: readonly string[];
}

/** `import`, `require`, and what asks them where a file is. */
const isLoading = (callee: ts.Expression): boolean =>
  callee.kind === ts.SyntaxKind.ImportKeyword || /^(require(\.resolve)?|import\.meta\.resolve)$/.test(textOf(callee));

const textOf = (node: ts.Expression): string => {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isMetaProperty(node)) return 'import.meta';
  return ts.isPropertyAccessExpression(node) ? `${textOf(node.expression)}.${node.name.text}` : '';
};

/** All imports of a text, in order. */
export function importsOf(fileName: string, text: string): Import[] {
  const found: Import[] = [];
  const add = (node: ts.Node | undefined, typeOnly: boolean, list?: ts.NamedImports | ts.NamedExports) => {
    if (node === undefined || !ts.isStringLiteralLike(node)) return;
    const names = list?.elements.map(({ propertyName, name }) => (propertyName ?? name).text);
    found.push({ specifier: node.text, typeOnly, names });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      const bindings = node.importClause?.namedBindings;
      const list = bindings && ts.isNamedImports(bindings) ? bindings : undefined;
      add(node.moduleSpecifier, node.importClause?.isTypeOnly === true, list);
    } else if (ts.isExportDeclaration(node)) {
      const list = node.exportClause && ts.isNamedExports(node.exportClause) ? node.exportClause : undefined;
      add(node.moduleSpecifier, node.isTypeOnly, list);
    }
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true);
    else if (ts.isExternalModuleReference(node)) add(node.expression, false);
    // What adds to the types of another file.
    else if (ts.isModuleDeclaration(node)) add(node.name, true);
    else if (ts.isCallExpression(node) && isLoading(node.expression)) add(node.arguments[0], false);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(fileName, text, ts.ScriptTarget.Latest));
  return found;
}

/** What a text imports by literal names, without the difference of types: many times faster. */
export const specifiersOf = (text: string): string[] =>
  ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
