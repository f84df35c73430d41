// Jobs of bullmq, which publishes nothing to channels: what adds one is a producer span, and its context goes with the job where bullmq's own telemetry keeps
// it, in its options; what a worker does with one is a trace of its own, linked to the span that added it. Where a program has given bullmq a telemetry of its own,
// that one traces, and none of this does. What is in a job never leaves, and what a program hands over stays as it is. What a worker asks redis for on its own
// account, between jobs and behind them, is not a trace, and no part of the one in which it was made: no root of one query each second that it idles.
import type { PropertyValue } from '../../rows/property.js';
import { allOff, type Off, quiet } from '../channel.js';
import { copyWith } from '../copy-with.js';
import { endingAfter } from '../ending.js';
import { failureOf, failureType, fieldOf } from '../failure.js';
import { runningIn } from '../in-context.js';
import { type ModuleOptions, onModule } from '../on-module.js';
import { IGNORED } from '../other-context.js';
import { portOf } from '../peer.js';
import type { IncomingHeaders, Propagator } from '../propagator.js';
import { type Classes, type Method, type Prototype, replaceMethod } from '../replace-method.js';
import { type FollowedMessage, Messaging, type MessagingOptions, textHeaders } from './messaging.js';

/** Options of the instrumentation `bullmq`. */
export interface BullmqOptions extends MessagingOptions, ModuleOptions {}

type Bullmq = Classes<'Queue' | 'FlowProducer' | 'Worker' | 'QueueEvents' | 'Scripts'>;
/** A queue, a producer of flows, a worker. */
interface Sender {
  readonly name?: unknown;
  readonly opts?: { readonly telemetry?: unknown; readonly connection?: unknown };
}
interface JobOptions {
  readonly telemetry?: { readonly metadata?: unknown; readonly omitContext?: unknown };
}
/** A job as it is handed over, among others or with those that it waits for. */
interface NewJob {
  readonly queueName?: unknown;
  readonly opts?: JobOptions;
  readonly children?: readonly NewJob[];
}
interface Job {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly opts?: JobOptions;
}

type Properties = (string | PropertyValue)[];

/** What a processor throws to say where its job goes on; it has not failed. */
const GOES_ON = ['DelayedError', 'RateLimitError', 'WaitingChildrenError', 'WaitingError'];

const typeOf = (error: unknown): string | undefined => {
  const failure = failureOf(error);
  return failure === undefined || GOES_ON.includes(fieldOf(failure, 'name') as string)
    ? undefined
    : failureType(failure);
};

const hasOwnTelemetry = ({ opts }: Sender): boolean => opts?.telemetry !== undefined && opts.telemetry !== null;

/** Options of a connection, or a client that has them. */
const serverOf = ({ opts }: Sender): Properties => {
  const connection = Object(opts?.connection) as { options?: object };
  const { host, port: given } = Object(connection.options ?? connection) as { host?: unknown; port?: unknown };
  const port = portOf(given);
  const list: Properties = [];
  if (typeof host === 'string') list.push('server.address', host);
  if (port !== undefined) list.push('server.port', port);
  return list;
};

/** Options with the context, unless the program wants none there or has put one itself. */
const withContext = (given: JobOptions | undefined, metadata: string): JobOptions => {
  // What is not an object is for bullmq to refuse.
  if (given !== undefined && given !== null && typeof given !== 'object') return given;
  const { telemetry } = given ?? {};
  if (telemetry?.omitContext || telemetry?.metadata) return given as JobOptions;
  return copyWith(given ?? {}, { telemetry: { ...telemetry, metadata } });
};

const jobWithContext = (job: NewJob, metadata: string): NewJob => {
  const { opts, children } = job;
  const values = { opts: withContext(opts, metadata) };
  if (!Array.isArray(children)) return copyWith(job, values);
  return copyWith(job, { ...values, children: children.map((one: NewJob) => jobWithContext(one, metadata)) });
};

/** Calls of one kind that add jobs. */
interface Adding {
  readonly operation: string;
  destinationOf(sender: Sender, args: readonly unknown[]): unknown;
  countOf(args: readonly unknown[]): number;
  /** What it is called with in place of `args`. */
  withContext(args: readonly unknown[], metadata: string): unknown[];
}

const listOf = (args: readonly unknown[]): readonly NewJob[] => args[0] as readonly NewJob[];

const ADD: Adding = {
  operation: 'add',
  destinationOf: ({ name }) => name,
  countOf: () => 1,
  withContext: ([name, data, opts, ...rest], metadata) => [
    name,
    data,
    withContext(opts as JobOptions | undefined, metadata),
    ...rest,
  ],
};
const ADD_BULK: Adding = {
  operation: 'addBulk',
  destinationOf: ({ name }) => name,
  countOf: (args) => listOf(args).length,
  withContext: ([jobs, ...rest], metadata) => [listOf([jobs]).map((job) => jobWithContext(job, metadata)), ...rest],
};
const ADD_FLOW: Adding = {
  operation: 'add',
  destinationOf: (_, args) => (args[0] as NewJob).queueName,
  countOf: () => 1,
  withContext: ([flow, ...rest], metadata) => [jobWithContext(flow as NewJob, metadata), ...rest],
};
const ADD_FLOWS: Adding = { ...ADD_BULK, destinationOf: (_, args) => listOf(args)[0]?.queueName };

/** Undefined for what is no job: bullmq refuses it, which ends the span. */
const withHeaders = quiet(({ withContext }: Adding, args: readonly unknown[], headers: object) =>
  withContext(args, JSON.stringify(headers)),
);

/** What travels with a job, as bullmq's own telemetry writes it. */
const headersOf = quiet(({ opts }: Job): IncomingHeaders => {
  const { metadata } = opts?.telemetry ?? {};
  return typeof metadata === 'string' ? textHeaders(JSON.parse(metadata)) : {};
});

/** What a worker calls is the program's. */
const outside = (call: Method): Method => runningIn(call, (_, here) => (here === IGNORED ? undefined : here));

/** Those whose calls lead out: they go on alone when nothing is traced any more. */
const ledOut = new WeakSet<object>();
const leadOut = quiet((worker: object) => {
  if (ledOut.has(worker)) return;
  ledOut.add(worker);
  for (const name of ['emit', 'callProcessJob']) replaceMethod(worker as Prototype, name, outside);
});

/** What a worker, or a listener to events, does for as long as it lives, with all that it begins there. */
const runningAlone = (run: Method): Method => {
  const alone = runningIn(run, () => IGNORED);
  return function (this: unknown, ...args) {
    if (hasOwnTelemetry(this as Sender)) return Reflect.apply(run, this, args);
    leadOut(this as object);
    return Reflect.apply(alone, this, args);
  };
};

/** Scripts of a worker that a program calls for itself, outside a job: fetching the next, locks, and keeping the result of one whose span has ended. */
const OF_WORKERS = ['moveToActive', 'moveStalledJobsToWait', 'extendLock', 'extendLocks', 'moveToFinished'];

/** Below the span of who calls it, and untraced where there is none. */
const neverRoot = (script: Method): Method => runningIn(script, (_, here) => here ?? IGNORED);

/** bullmq 4 and later. */
export const instrumentBullmq = (options: BullmqOptions, propagator: Propagator): Off => {
  const messaging = new Messaging('bullmq', 'bullmq', options, propagator);

  const beginAdding = quiet((sender: Sender, kind: Adding, args: readonly unknown[]) => {
    const { operation, destinationOf, countOf } = kind;
    if (hasOwnTelemetry(sender)) return undefined;
    const destination = String(destinationOf(sender, args) ?? '');
    const list: Properties = ['messaging.destination.name', destination, ...serverOf(sender)];
    const count = countOf(args);
    if (count !== 1) list.push('messaging.batch.message_count', count);
    const message = messaging.startSending({ operation, destination }, list);
    if (message?.span === undefined) return message === undefined ? undefined : { message, args };
    const headers: Record<string, string> = {};
    messaging.inject(message.span, (name, value) => {
      headers[name] = value;
    });
    return { message, args: withHeaders(kind, args, headers) ?? args };
  });

  const adding =
    (kind: Adding) =>
    (add: Method): Method =>
      function (this: unknown, ...args) {
        const begun = beginAdding(this as Sender, kind, args);
        if (begun === undefined) return Reflect.apply(add, this, args);
        const { message } = begun;
        const { span } = message;
        const ended = quiet((error: unknown, job?: unknown) => {
          const { id } = Object(job) as Job;
          if (typeof id === 'string' && span?.isRecording === true) span.addProperty('messaging.message.id', id);
          messaging.end(message, error === undefined ? undefined : failureType(error), error);
        });
        // What it asks redis for is below it.
        const work = (): unknown => Reflect.apply(add, this, begun.args);
        return endingAfter(() => (span === undefined ? work() : span.run(work)), ended);
      };

  const beginProcessing = quiet(
    (worker: Sender, job: Job): { message: FollowedMessage | 'ignored'; headers: IncomingHeaders } | undefined => {
      if (hasOwnTelemetry(worker)) return undefined;
      const destination = String(worker.name);
      const list: Properties = ['messaging.destination.name', destination, ...serverOf(worker)];
      if (typeof job.id === 'string') list.push('messaging.message.id', job.id);
      if (typeof job.name === 'string') list.push('messaging.bullmq.job.name', job.name);
      const headers = headersOf(job) ?? {};
      return { message: messaging.startProcessing({ operation: 'process', destination }, list, [headers]), headers };
    },
  );

  const processing = (call: Method): Method =>
    function (this: unknown, ...args) {
      const begun = beginProcessing(this as Sender, args[0] as Job);
      if (begun === undefined) return Reflect.apply(call, this, args);
      const { message, headers } = begun;
      const ended = quiet((error: unknown) => {
        if (message !== 'ignored') messaging.end(message, error === undefined ? undefined : typeOf(error), error);
      });
      return endingAfter(() => messaging.runProcessing(message, headers, () => Reflect.apply(call, this, args)), ended);
    };

  return onModule<Bullmq>('bullmq', options.module, ({ Queue, FlowProducer, Worker, QueueEvents, Scripts }) =>
    allOff([
      ...[Worker, QueueEvents].map((looping) => replaceMethod(looping?.prototype, 'run', runningAlone)),
      replaceMethod(Queue?.prototype, 'add', adding(ADD)),
      replaceMethod(Queue?.prototype, 'addBulk', adding(ADD_BULK)),
      replaceMethod(FlowProducer?.prototype, 'add', adding(ADD_FLOW)),
      replaceMethod(FlowProducer?.prototype, 'addBulk', adding(ADD_FLOWS)),
      replaceMethod(Worker?.prototype, 'callProcessJob', processing),
      ...OF_WORKERS.map((name) => replaceMethod(Scripts?.prototype, name, neverRoot)),
    ]),
  );
};
