// Calls of graphql 15 and 16, which publish nothing: they are announced as graphql 17 does, by functions in place of its own. What the main file exports, and
// what other files of the package call, are getters for what a few files export, so those are patched, for `import`, for `require` of any file, and for
// calls inside. Its files `.mjs`, which bundlers take alone, are not seen. The file of @graphql-tools/executor that executes for graphql-yoga is patched too,
// for it never publishes. No result may become another one.
import { lookAlike } from '../base/calls/look-alike.js';
import { allOff, type Off, quiet } from './channel.js';
import { type FileOf, onFile } from './on-module.js';
import { type Method, type Prototype, putMethod } from './replace-method.js';
import { type CallWork, tracedCall } from './traced-call.js';
import { isOlder, versionAbove } from './untraced.js';
import { VERSIONS } from './versions.js';

interface Document {
  readonly loc?: { readonly start: number; readonly end: number; readonly source: { readonly body: string } };
}
/** The pending operation, as graphql 17 announces it. */
export interface Execution {
  readonly document: Document;
  readonly operationName?: unknown;
  readonly operationType?: unknown;
}
/** A field that is resolved, as graphql 17 announces it. */
export interface Resolving {
  readonly fieldName: string;
  readonly parentType: string;
  readonly fieldType: string;
  readonly fieldPath?: unknown;
  readonly isDefaultResolver: boolean;
}
/** What is announced of calls. */
export interface GraphqlWork {
  readonly parse: CallWork<object>;
  readonly validate: CallWork<object>;
  readonly execute: CallWork<Execution>;
  readonly subscribe: CallWork<Execution>;
  /** Of resolvers, where they are traced. */
  readonly resolve: CallWork<Resolving> | undefined;
}

/** Arguments of `execute` and `subscribe`. */
interface Arguments {
  readonly schema?: Schema;
  readonly document: Document & { readonly definitions?: readonly Definition[] };
  readonly operationName?: unknown;
}
interface Definition {
  readonly kind: string;
  readonly operation?: string;
  readonly name?: { readonly value: string };
}
interface Schema {
  getTypeMap(): Record<string, { getFields?(): Record<string, { resolve?: unknown }> }>;
}
interface Info {
  readonly fieldName: string;
  readonly parentType: unknown;
  readonly returnType: unknown;
  readonly path?: Path;
}
interface Path {
  readonly prev?: Path | undefined;
  readonly key: string | number;
}

/** What is on. A function of ours that a program has taken out of graphql is there for good. */
let current: GraphqlWork | undefined;

/** Resolvers that are ours. */
const resolvers = new WeakSet<Method>();
/** Where a program has wrapped what was in place: it is called there. */
const wrappedByOthers = new WeakMap<object, Set<string>>();
const seenSchemas = new WeakSet<Schema>();
/** Each event of a subscription is executed by itself. */
const subscribed = new WeakSet<object>();

/** Version 15 takes them one by one too. */
const argumentsOf = (args: readonly unknown[]): Arguments =>
  args.length > 1
    ? ({ schema: args[0], document: args[1], operationName: args[5] } as Arguments)
    : (args[0] as Arguments);

const NO_DEFINITIONS: readonly Definition[] = [];

/** The one of that name; without a name the only one. */
const operationIn = ({ document, operationName }: Arguments): Definition | undefined => {
  const isNamed = operationName !== undefined && operationName !== null;
  let found: Definition | undefined;
  for (const definition of document.definitions ?? NO_DEFINITIONS) {
    if (definition.kind !== 'OperationDefinition') continue;
    if (isNamed) {
      if (definition.name?.value === operationName) return definition;
      continue;
    }
    if (found !== undefined) return undefined;
    found = definition;
  }
  return found;
};

const pathOf = (path: Path | undefined): readonly (string | number)[] => {
  const keys: (string | number)[] = [];
  for (let at = path; at !== undefined; at = at.prev) keys.unshift(at.key);
  return keys;
};

const resolvingOf = (args: readonly unknown[]): Resolving => {
  const { fieldName, parentType, returnType, path } = args[3] as Info;
  return {
    fieldName,
    parentType: String(parentType),
    fieldType: String(returnType),
    fieldPath: pathOf(path),
    isDefaultResolver: false,
  };
};

/** Its own resolvers, each as soon as something of the schema is executed; those of introspection are every schema's. */
const traceResolvers = quiet((schema: Schema | undefined): void => {
  if (schema === undefined || seenSchemas.has(schema)) return;
  seenSchemas.add(schema);
  for (const [name, type] of Object.entries(schema.getTypeMap())) {
    if (name.startsWith('__') || typeof type.getFields !== 'function') continue;
    for (const field of Object.values(type.getFields())) {
      const resolve = field.resolve as Method | undefined;
      if (typeof resolve !== 'function' || resolvers.has(resolve)) continue;
      const traced = tracedCall(resolve, () => current?.resolve, resolvingOf);
      resolvers.add(traced);
      field.resolve = lookAlike(traced, resolve);
    }
  }
});

const executionOf = (args: readonly unknown[]): Execution => {
  const given = argumentsOf(args);
  if (current?.resolve !== undefined) traceResolvers(given.schema);
  const operation = operationIn(given);
  const { document, operationName } = given;
  return { document, operationName: operationName ?? operation?.name?.value, operationType: operation?.operation };
};

const subscriptionOf = (args: readonly unknown[]): Execution => {
  const execution = executionOf(args);
  subscribed.add(execution.document);
  return execution;
};

/** graphql 17 announces no event of a subscription. */
const exceptEvents = ({ begin, finish }: CallWork<Execution>): CallWork<Execution> => ({
  begin: (message) =>
    message.operationType === 'subscription' && subscribed.has(message.document) ? undefined : begin(message),
  finish,
});

const nothing = {};

type Make = (original: Method) => Method;

const stepping =
  (workNow: () => CallWork<object> | undefined): Make =>
  (step) =>
    tracedCall(step, workNow, () => nothing);

const MAKE: Readonly<Record<string, Make>> = {
  parse: stepping(() => current?.parse),
  validate: stepping(() => current?.validate),
  execute: (execute) => tracedCall(execute, () => current?.execute, executionOf),
  // It calls the other one where that is made, not as it is exported.
  executeSync: (execute) => tracedCall(execute, () => current?.execute, executionOf),
  subscribe: (subscribe) => tracedCall(subscribe, () => current?.subscribe, subscriptionOf),
};

/** Where they are made, in graphql and in the package by which graphql-yoga executes. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  'graphql/language/parser.js': ['parse'],
  'graphql/validation/validate.js': ['validate'],
  'graphql/execution/execute.js': ['execute', 'executeSync'],
  // Of 16, and of 15.
  'graphql/execution/subscribe.js': ['subscribe'],
  'graphql/subscription/subscribe.js': ['subscribe'],
  '@graphql-tools/executor/cjs/execution/execute.js': ['execute', 'executeSync', 'subscribe'],
  // An ES module, inside which the one that is synchronous calls what is in place of the other.
  '@graphql-tools/executor/esm/execution/execute.js': ['execute', 'subscribe'],
};

const patch = (exports: Prototype, name: string): Off => {
  const wrapped = wrappedByOthers.get(exports) ?? new Set();
  if (wrapped.has(name)) return () => {};
  const original = exports[name];
  if (typeof original !== 'function') return () => {};
  // No replaceMethod: a function that was imported has to be traced again.
  const putBack = putMethod(exports, name, MAKE[name](original));
  return () => {
    putBack();
    if (exports[name] !== original) wrappedByOthers.set(exports, wrapped.add(name));
  };
};

const isPatched = (file: string, fileOf: FileOf): boolean => {
  if (!file.startsWith('graphql/')) return true;
  const version = versionAbove(fileOf() ?? '', 'graphql');
  const { patches = '', channels = '' } = VERSIONS.graphql;
  return version !== undefined && !isOlder(version, patches) && isOlder(version, channels);
};

/** Calls `work` for calls of every copy of graphql 15 and 16. */
export const traceGraphqlCalls = (work: GraphqlWork): Off => {
  current = { ...work, execute: exceptEvents(work.execute) };
  const on = current;
  return allOff([
    () => {
      if (current === on) current = undefined;
    },
    ...Object.entries(FILES).map(([file, names]) =>
      onFile(file, names, (exports, fileOf) =>
        isPatched(file, fileOf) ? allOff(names.map((name) => patch(exports, name))) : undefined,
      ),
    ),
  ]);
};
