// Turns a bundle of ES modules into CommonJS, file by file. What another file exports is a constant here, as in a module: a property that is
// read at each use would be a look-up on the hot path. Right because our files import each other without cycles and export no reassigned
// binding; a cycle is an error of the build.
const LOCAL = /^\.\.?\//;

/** Packages of the workspace, any entry of them. */
export const SIBLINGS = /^(@spanline\/|spanline(\/|$))/;

/** Undefined in a bundle that is an ES module, where nobody is beside this file. */
const OWN_URL =
  '(typeof __filename === "string" ? process.getBuiltinModule("node:url").pathToFileURL(__filename).href : void 0)';

const nameOf = ({ kind, name }) => (kind === 'Default' ? 'default' : name);
const pair = (name, value) => (name === value ? name : `${name}: ${value}`);

function requireOf({ moduleRequest, entries }) {
  const source = moduleRequest.value;
  // A trace of rolldown's helpers, whose uses are gone.
  if (source.startsWith('node:') && entries.length === 0) return '';
  if (source.startsWith('node:')) throw new Error(`${source} is imported in a form that the build does not know`);
  const call = `require(${JSON.stringify(source)})`;
  const lines = [];
  const names = [];
  for (const { importName, localName } of entries) {
    const isAll = importName.kind === 'NamespaceObject' || (importName.kind === 'Default' && !LOCAL.test(source));
    if (isAll) lines.push(`const ${localName.value} = ${call};`);
    else names.push(pair(nameOf(importName), localName.value));
  }
  if (names.length > 0) lines.push(`const { ${names.join(', ')} } = ${call};`);
  return lines.length > 0 ? lines.join(' ') : `${call};`;
}

/** The places of a file that are written differently, with what stands there instead. */
function* changes({ staticImports, dynamicImports, importMetas }, exports, text) {
  for (const one of staticImports) yield { ...one, by: requireOf(one) };
  for (const { start, end } of exports) yield { start, end, by: '' };
  for (const { start, end, moduleRequest } of dynamicImports) {
    const source = text.slice(moduleRequest.start, moduleRequest.end);
    // A package of another's may be an ES module. Ours are not: imported, their whole text would be searched for exports, half of what their start takes.
    // The sources await it at once.
    if (SIBLINGS.test(source.slice(1, -1))) yield { start, end, by: `require(${source})` };
    if (LOCAL.test(source.slice(1))) yield { start, end, by: `Promise.resolve().then(() => require(${source}))` };
  }
  for (const { start, end } of importMetas) {
    if (!text.startsWith('.url', end)) throw new Error(`import.meta is known to the build as import.meta.url alone`);
    yield { start, end: end + '.url'.length, by: OWN_URL };
  }
}

/** What an export statement of a bundle gives: names of this file, or of another one. */
const exportsOf = ({ specifiers, source }) => {
  const from = source === null ? '' : `require(${JSON.stringify(source.value)}).`;
  return specifiers.map(({ local, exported }) => pair(exported.name, from + local.name));
};

/** `text`, a file that rolldown's `parseSync` has read, as CommonJS. */
export function toCommonJs(text, { module, program }) {
  const statements = program.body.filter(({ type }) => /^Export/.test(type));
  const other = statements.find(({ type, declaration }) => type !== 'ExportNamedDeclaration' || declaration !== null);
  if (other !== undefined) throw new Error(`the build knows no ${other.type} but lists of names`);
  let code = '';
  let at = 0;
  for (const { start, end, by } of [...changes(module, statements, text)].sort((a, b) => a.start - b.start)) {
    code += text.slice(at, start) + by;
    at = end;
  }
  code += text.slice(at);
  const exported = statements.flatMap(exportsOf);
  return exported.length === 0 ? code : `${code.trimEnd()}\nmodule.exports = { ${exported.join(', ')} };\n`;
}

/** Throws when files import each other in a circle. `imports` is a map from each file to those that it imports. */
export function refuseCycles(imports) {
  const done = new Set();
  const visit = (file, path) => {
    if (path.includes(file)) throw new Error(`chunks import each other: ${[...path, file].join(' -> ')}`);
    if (done.has(file)) return;
    for (const next of imports.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of imports.keys()) visit(file, []);
}
