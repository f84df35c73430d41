// Calls of the AWS SDK 3, which publishes nothing: `send` of its clients is wrapped, which every form of a call ends in. Requests of HTTP are below it, as
// many as it takes. What a program hands over stays as it is: a copy has the context.

import { isThenable } from '../../base/calls/timers.js';
import { queueStore, type SpanQueue } from '../../local-span/local-span.js';
import type { Span } from '../../span/span.js';
import { allOff, callHook, callPredicate, type Off, quiet } from '../channel.js';
import { boundedName, boundedNames, type CallOptions, queueFor, startCall } from '../client-span.js';
import { endingWith } from '../ending.js';
import { failureOf, failureType } from '../failure.js';
import { boundFor, callerHere } from '../in-context.js';
import { type ModuleOptions, onModule } from '../on-module.js';
import { extractFrom, injectSpan, type Propagator } from '../propagator.js';
import { type Method, ownerOf, type Prototype, SeenClasses } from '../replace-method.js';
import { scopeOf } from '../scope.js';
import { type Described, described, type Fields } from './services.js';

/** A call as hooks see it. */
export interface AwsCall {
  /** `S3`, `DynamoDB` */
  readonly service: string;
  /** `PutObject` */
  readonly operation: string;
}

/** Options of the instrumentation `aws-sdk`. */
export interface AwsOptions extends CallOptions<AwsCall, [error: unknown]>, ModuleOptions {}

interface Client {
  readonly config?: { readonly serviceId?: unknown; readonly region?: unknown };
}
interface Command {
  readonly input?: Fields;
  /** Of the client of documents: the command that is sent for it. */
  readonly clientCommand?: object;
}
interface Begun {
  readonly span: Span;
  readonly call: AwsCall;
  readonly about: Described;
  readonly command: Command;
}

/** Where the class of all clients has been: the newest first. */
const PLACES = [
  '@smithy/core/client',
  '@smithy/core/dist-cjs/submodules/client/index.js',
  '@smithy/smithy-client',
  '@aws-sdk/smithy-client',
];

const operationOf = (command: Command): string =>
  Object(command.clientCommand ?? command).constructor.name.replace(/Command$/, '');

interface Answer {
  readonly $metadata?: {
    readonly requestId?: unknown;
    readonly extendedRequestId?: unknown;
    readonly httpStatusCode?: unknown;
  };
}

const addAnswer = (span: Span, answer: unknown): void => {
  const { requestId, extendedRequestId, httpStatusCode } = (Object(answer) as Answer).$metadata ?? {};
  if (typeof requestId === 'string') span.addProperty('aws.request_id', requestId);
  if (typeof extendedRequestId === 'string') span.addProperty('aws.extended_request_id', extendedRequestId);
  if (typeof httpStatusCode === 'number') span.addProperty('http.response.status_code', httpStatusCode);
};

/** Classes that have `send` of their own among what a package exports. */
const sendersOf = (exports: Prototype): readonly Prototype[] =>
  Object.entries(exports).flatMap(([name, value]) => {
    const prototype = name.endsWith('Client') ? (value as { prototype?: Prototype } | undefined)?.prototype : undefined;
    const owner = ownerOf(prototype, 'send');
    return owner === undefined ? [] : [owner];
  });

/** AWS SDK 3, all of its clients. */
export const instrumentAws = (options: AwsOptions, propagator: Propagator): Off => {
  const { ignore, enrich, requireParent = false } = options;
  const scope = scopeOf('aws-sdk');

  /** The command as it is sent, with the context of `span`. */
  const withContext = quiet((span: Span, { withContext }: Described, command: Command): Command | undefined => {
    const headers: Record<string, string> = {};
    injectSpan(propagator, span, (name, value) => {
      headers[name] = value;
    });
    const input = withContext?.(command.input ?? {}, headers);
    return input === undefined
      ? undefined
      : (Object.create(command, { input: { value: input, writable: true, enumerable: true } }) as Command);
  });

  const begin = quiet((client: Client, command: Command): Begun | undefined => {
    const service = String(client.config?.serviceId ?? 'AWS');
    const call: AwsCall = { service, operation: operationOf(command) };
    if (callPredicate(ignore, call)) return undefined;
    const about = described(service, call.operation, command.input ?? {});
    const { name = `${service}.${call.operation}`, kind = 'client', properties } = about;
    const span = startCall(boundedName(name), { kind, scope }, requireParent);
    if (span === undefined) return undefined;
    if (span.isRecording)
      span.describe([
        'rpc.system.name',
        'aws-api',
        'rpc.method',
        `${service}/${call.operation}`,
        ...boundedNames(properties),
      ]);
    return { span, call, about, command: withContext(span, about, command) ?? command };
  });

  /** Those that came; a call that waited for nothing is not a trace. */
  const addMessages = ({ span, about }: Begun, answer: unknown): void => {
    const messages = about.messagesIn?.(Object(answer) as Fields);
    if (messages === undefined) return;
    if (messages.length === 0 && span.isRoot) span.cancel();
    span.addProperty('messaging.batch.message_count', messages.length);
    for (const headers of messages) {
      const context = extractFrom(propagator, headers);
      if (context !== undefined) span.addLink(context);
    }
  };

  const finish = (begun: Begun, error: unknown, answer: unknown): void => {
    const { span, call } = begun;
    addAnswer(span, error ?? answer);
    const failure = failureOf(error);
    if (failure !== undefined) {
      const type = failureType(failure);
      span.addProperty('error.type', type).setStatus('error', type);
    }
    if (error === undefined || error === null) addMessages(begun, answer);
    callHook(enrich, span, call, error ?? undefined);
  };

  const addRegion = quiet((span: Span, { config }: Client) => {
    // It is asked for at each request.
    const region: unknown = typeof config?.region === 'function' ? (config.region as () => unknown)() : config?.region;
    const add = quiet((name: unknown) => {
      if (typeof name === 'string' && span.isRecording) span.addProperty('cloud.region', name);
    });
    if (isThenable(region)) region.then(add, () => {});
    else add(region);
  });

  const sending = (send: Method): Method =>
    function (this: unknown, ...args) {
      const begun = begin(this as Client, args[0] as Command);
      if (begun === undefined) return Reflect.apply(send, this, args);
      const { span, command } = begun;
      const caller = callerHere();
      const queue = queueFor(span, caller);
      addRegion(span, this as Client);
      const ended = quiet((error: unknown, answer?: unknown) => {
        queue.close();
        if (!span.isRecording) return;
        try {
          finish(begun, error, answer);
        } finally {
          span.end();
        }
      });
      const sent = [command, ...args.slice(1)];
      const at = sent.findIndex((argument, i) => i > 0 && typeof argument === 'function');
      if (at > 0) sent[at] = boundFor(caller, sent[at], ended);
      queueStore.enter(queue);
      try {
        const result = Reflect.apply(send, this, sent);
        if (isThenable(result)) return endingWith(result, ended);
        // What stands between this and the client is somebody else's, as in a test of the program.
        if (at < 0) ended(undefined);
        return result;
      } catch (error) {
        ended(error);
        throw error;
      } finally {
        queueStore.enter(caller as SpanQueue);
      }
    };

  const classes = new SeenClasses();
  const patch = (exports: Prototype): Off => {
    for (const prototype of sendersOf(exports)) classes.replace(prototype, 'send', sending);
    return () => {};
  };
  return allOff([
    ...PLACES.map((place, i) => onModule<Prototype>(place, i === 0 ? options.module : undefined, patch)),
    classes.off,
  ]);
};
