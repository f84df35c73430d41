// Operations of graphql: of version 17 by its channels, of 15 and 16 by graphql-calls.ts. Values in a document, those of variables and arguments, and the
// texts of errors never leave.
import { BoundedCache, getOrMake } from '../base/maps/maps.js';
import type { PropertyValue } from '../rows/property.js';
import type { SpanOptions } from '../span/arguments.js';
import type { Span } from '../span/span.js';
import { allOff, callHook, callPredicate, type Off } from './channel.js';
import { type CallOptions, startCall } from './client-span.js';
import { failureType, fieldOf, reasonOf } from './failure.js';
import { type Execution, type GraphqlWork, type Resolving, traceGraphqlCalls } from './graphql-calls.js';
import { scopeOf } from './scope.js';
import { type Outcome, traceChannel } from './traced-channel.js';

/** An operation as hooks see it. */
export interface GraphqlOperation {
  readonly type: string | undefined;
  /** As the client named it. */
  readonly name: string | undefined;
  /** With its values taken out; undefined where it was parsed without locations. */
  readonly document: string | undefined;
}

/** Options of the instrumentation `graphql`, whose calls are operations; `enrich` gets the result as graphql gives it. */
export interface GraphqlOptions extends CallOptions<GraphqlOperation, [result: unknown]> {
  /** A span for each call of a resolver of yours too, which may be thousands; false by default. */
  readonly resolve?: boolean;
  /** Put the name that the client gave an operation into the name of its span; false by default, for clients choose it. */
  readonly operationNames?: boolean;
}

const MAX = 4096;
const MAX_NAME_LENGTH = 255;

const OPERATION: SpanOptions = { kind: 'server', scope: scopeOf('graphql') };
const STEP: SpanOptions = { scope: scopeOf('graphql') };

const IGNORED_TEXT = String.raw`(?<gap>#[^\n\r]*|[\s,]+)`;
const STRING = String.raw`"""(?:\\"""|[\s\S])*?(?:"""|$)|"(?:\\.|[^"\\\n\r])*(?:"|\\?$)`;
const NUMBER = String.raw`(?<![\w$])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?`;
const TOKENS = new RegExp(`${STRING}|${IGNORED_TEXT}|${NUMBER}`, 'g');

/** `text` with `?` for each string and number, on one line and without comments. */
export const withoutLiterals = (text: string): string =>
  text
    .slice(0, MAX)
    .replace(TOKENS, (_, ...rest: unknown[]) =>
      (rest[rest.length - 1] as { gap?: string }).gap === undefined ? '?' : ' ',
    )
    .replace(/ +/g, ' ')
    .trim();

/** Texts without literals, by what they were: clients send the same few, and taking literals out of one takes microseconds. */
const known = new BoundedCache<string, string>(512);

const textOf = ({ loc }: Execution['document']): string | undefined => {
  if (typeof loc?.source?.body !== 'string') return undefined;
  const text = loc.source.body.slice(loc.start, loc.end);
  return text.length > MAX ? withoutLiterals(text) : getOrMake(known, text, withoutLiterals);
};

const textOr = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, MAX_NAME_LENGTH) : undefined;

const operationOf = ({ document, operationName, operationType }: Execution): GraphqlOperation => ({
  type: textOr(operationType),
  name: textOr(operationName),
  document: textOf(document),
});

/** The code that a server gives an error, else the class of what was thrown. */
const typeOf = (error: unknown): string => {
  const code = fieldOf(fieldOf(error, 'extensions'), 'code');
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(code)) return code;
  return failureType(fieldOf(error, 'originalError') ?? error);
};

/** Among what was given: of `validate` a list, of an operation a part, which may be that of its first answer. */
const errorIn = (result: unknown): unknown => {
  const { errors, initialResult } = Object(result) as { errors?: unknown; initialResult?: unknown };
  const list = Array.isArray(result) ? result : (errors ?? fieldOf(initialResult, 'errors'));
  return Array.isArray(list) ? list[0] : undefined;
};

const addError = (span: Span, error: unknown): void => {
  const type = typeOf(error);
  span.addProperty('error.type', type).setStatus('error', type);
};

/** What a resolver gives is the program's, errors too. */
const addThrown = (span: Span, outcome: Outcome): void => {
  if ('error' in outcome) addError(span, reasonOf(outcome.error));
};

const addErrors = (span: Span, outcome: Outcome): void => {
  addThrown(span, outcome);
  const error = errorIn(outcome.result);
  if (error !== undefined) addError(span, error);
};

const pathOf = (path: unknown): string | undefined => {
  if (typeof path === 'string') return path;
  return Array.isArray(path) ? path.join('.') : undefined;
};

/** What is announced of the calls of graphql. */
const workOf = (options: GraphqlOptions): GraphqlWork => {
  const { ignore, enrich, requireParent = false, resolve = false, operationNames = false } = options;
  const operations = new WeakMap<Span, GraphqlOperation>();

  const begin = (message: Execution): Span | undefined => {
    const operation = operationOf(message);
    if (callPredicate(ignore, operation)) return undefined;
    const { type, name, document } = operation;
    const kind = type ?? 'GraphQL Operation';
    const span = startCall(operationNames && name !== undefined ? `${kind} ${name}` : kind, OPERATION, requireParent);
    if (span === undefined || !span.isRecording) return span;
    const list: (string | PropertyValue)[] = [];
    if (type !== undefined) list.push('graphql.operation.type', type);
    if (name !== undefined) list.push('graphql.operation.name', name);
    if (document !== undefined) list.push('graphql.document', document);
    span.describe(list);
    if (enrich !== undefined) operations.set(span, operation);
    return span;
  };

  const finish = (span: Span, outcome: Outcome): void => {
    addErrors(span, outcome);
    const operation = operations.get(span);
    if (operation !== undefined) callHook(enrich, span, operation, outcome.result);
  };

  const beginResolving = (message: Resolving): Span | undefined => {
    if (message.isDefaultResolver) return undefined;
    const { fieldName, parentType, fieldType, fieldPath } = message;
    const span = startCall(`graphql.resolve ${parentType}.${fieldName}`, STEP, true);
    if (span?.isRecording !== true) return span;
    const list = ['graphql.field.name', fieldName, 'graphql.field.type', fieldType];
    const path = pathOf(fieldPath);
    if (path !== undefined) list.push('graphql.field.path', path);
    span.describe(list);
    return span;
  };

  // Programs parse schemas at their start: steps are traced only inside what is.
  const step = (name: string) => ({ begin: () => startCall(`graphql.${name}`, STEP, true), finish: addErrors });

  return {
    parse: step('parse'),
    validate: step('validate'),
    execute: { begin, finish },
    subscribe: { begin, finish },
    resolve: resolve ? { begin: beginResolving, finish: addThrown } : undefined,
  };
};

/** graphql 15 and later. */
export const instrumentGraphql = (options: GraphqlOptions): Off => {
  const work = workOf(options);
  return allOff([
    traceGraphqlCalls(work),
    traceChannel('graphql:parse', work.parse),
    traceChannel('graphql:validate', work.validate),
    traceChannel('graphql:execute', work.execute),
    traceChannel('graphql:subscribe', work.subscribe),
    ...(work.resolve === undefined ? [] : [traceChannel('graphql:resolve', work.resolve)]),
  ]);
};
