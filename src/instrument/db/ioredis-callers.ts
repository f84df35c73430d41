// Commands of ioredis are announced when they are written. One that waited for others to be sent with it is written in another's context: the queue it
// was made under is kept, and stands again when it is written. One that waits for its connection is announced at once, or nobody would hear of it
// where no connection comes.
import { tracingChannel } from 'node:diagnostics_channel';
import type { SpanQueue } from '../../local-span/local-span.js';
import { allOff, type Off, quiet } from '../channel.js';
import { hearAnswer, type Over, type Waiting } from '../ending.js';
import { callerKept, runningIn } from '../in-context.js';
import { onModule } from '../on-module.js';
import { type Method, onCall, type Prototype, replaceMethod } from '../replace-method.js';
import type { Outcome } from '../traced-channel.js';

interface Sender {
  readonly prototype: Prototype;
}
/** What ioredis exports: of old versions, the class of clients. */
export interface Ioredis extends Partial<Sender> {
  readonly Redis?: Sender;
  readonly Cluster?: Sender;
  readonly Pipeline?: Sender;
}

/** Classes that send commands: clients and clusters, and pipelines, which send them to one of the others. */
export const sendersOf = (
  ioredis: Ioredis,
): Readonly<Record<'redis' | 'cluster' | 'pipeline', Prototype | undefined>> => ({
  redis: ioredis.Redis?.prototype ?? ioredis.prototype,
  cluster: ioredis.Cluster?.prototype,
  pipeline: ioredis.Pipeline?.prototype,
});

/** Who asked for a command, kept on it and not in a weak map, which costs more. Null for a caller outside any span. */
const CALLER = Symbol('spanline.caller');

const keepCaller = (sendCommand: Method): Method =>
  runningIn(sendCommand, (_sender, here, [given]) => {
    // What is none is for ioredis to refuse.
    if (typeof given !== 'object' || given === null) return here;
    const command = given as { [CALLER]?: SpanQueue | null };
    const caller = command[CALLER];
    if (caller === undefined) command[CALLER] = here ?? null;
    return callerKept(caller, here);
  });

/** What a command has come to, and who is to hear of it. */
interface Heard {
  outcome?: Outcome;
  over?: Over;
}

/** On a command that may wait. */
const HEARD = Symbol('spanline.heard');

interface Command extends Waiting {
  /** ioredis announces it no more. */
  isTraced?: boolean;
  [HEARD]?: Heard;
}
/** ioredis 5.11 and later. */
interface Redis {
  readonly status?: unknown;
  readonly condition?: { readonly subscriber?: unknown } | null;
  readonly stream?: { readonly writable?: unknown } | null;
  _buildCommandContext?(command: object): object;
}

/** It may be refused at once, or wait. */
const isReady = ({ status, condition, stream }: Redis): boolean =>
  status === 'ready' && !condition?.subscriber && stream?.writable === true;

const channel = tracingChannel<unknown, object>('ioredis:command');

/** Innermost: a cluster puts its redirections around it. Not by the promise, which the program has: a failure that nobody looks after stays one. */
const hear = quiet((command: Command | undefined): void => {
  if (command?.isTraced !== false || command[HEARD] !== undefined || !channel.start.hasSubscribers) return;
  const heard: Heard = {};
  command[HEARD] = heard;
  hearAnswer(
    command,
    quiet((outcome) => {
      heard.outcome = outcome;
      heard.over?.(outcome);
    }),
  );
});

const announce = quiet((redis: Redis, command: Command | undefined) => {
  if (command?.isTraced !== false || typeof redis._buildCommandContext !== 'function') return;
  const heard = command[HEARD];
  if (heard === undefined || !channel.start.hasSubscribers) return;
  command.isTraced = true;
  const message: Outcome = redis._buildCommandContext(command);
  channel.start.runStores(message, () => channel.end.publish(message));
  const over = (outcome: Outcome): void => {
    Object.assign(message, outcome);
    if ('error' in outcome) channel.error.publish(message);
    channel.asyncStart.publish(message);
    channel.asyncEnd.publish(message);
  };
  if (heard.outcome === undefined) heard.over = over;
  else over(heard.outcome);
});

/** Once it is announced nobody asks for its caller, whose span, trace and all, it would keep for as long as it is kept itself. */
const forgetCaller = (command: (Command & { [CALLER]?: SpanQueue | null | undefined }) | undefined): void => {
  if (command?.isTraced === true) command[CALLER] = undefined;
};

const announceWaiting = (sendCommand: Method): Method =>
  function (this: unknown, ...args) {
    const command = args[0] as Command | undefined;
    if (!isReady(this as Redis)) hear(command);
    const result = Reflect.apply(sendCommand, this, args);
    announce(this as Redis, command);
    forgetCaller(command);
    return result;
  };

/** Keeps them, in every copy of ioredis. */
export const keepCallers = (module: unknown): Off =>
  onModule<Ioredis>('ioredis', module, (ioredis) => {
    const { redis, cluster, pipeline } = sendersOf(ioredis);
    return allOff([
      replaceMethod(redis, 'sendCommand', announceWaiting),
      // It gives a command to a client later, which may wait there.
      onCall(cluster, 'sendCommand', (_, [command]: readonly (Command | undefined)[]) => hear(command)),
      ...[redis, cluster, pipeline].map((sender) => replaceMethod(sender, 'sendCommand', keepCaller)),
    ]);
  });
