// Commands of redis, from @redis/client and ioredis, by their channels where they have them. Arguments never leave, keys neither: only how many there are.
import { BoundedCache, getOrMake } from '../../base/maps/maps.js';
import { allOff, type Off } from '../channel.js';
import { fieldOf } from '../failure.js';
import { callingBack } from '../in-context.js';
import { type ModuleOptions, onModule } from '../on-module.js';
import { KnownClasses, onReturn, ownerOf, prototypeOf, replaceMethod } from '../replace-method.js';
import { traceChannel } from '../traced-channel.js';
import { Database, type DatabaseOptions, type Operation } from './database.js';
import { keepCallers } from './ioredis-callers.js';
import { type Batch, type Command, type RedisWork, traceIoredisCalls } from './ioredis-calls.js';

/** Options of the instrumentation `ioredis`. */
export interface IoredisOptions extends DatabaseOptions, ModuleOptions {}

/** The first command of a transaction that the server refused: answers of `redis`, pairs of error and answer of ioredis. */
const refusedIn = (result: unknown): unknown => {
  if (!Array.isArray(result)) return undefined;
  for (const answer of result) {
    const one: unknown = Array.isArray(answer) ? answer[0] : answer;
    if (one instanceof Error) return one;
  }
  return undefined;
};

const MAX_ARGUMENTS = 16;
const MAX_CACHED = 32;
const NAME = /^[A-Za-z][\w.-]{0,31}$/;

// A user can send any word as a command.
const nameOf = (command: unknown): string => {
  const name = String(command);
  return NAME.test(name) ? name.toUpperCase() : '_OTHER';
};

/** Reads of queues that wait until something comes. */
const BLOCKING = /^B(?:LPOP|RPOP|LMOVE|RPOPLPUSH|LMPOP|ZPOPMIN|ZPOPMAX|ZMPOP)$/i;
const MAY_BLOCK = /^XREAD(?:GROUP)?$/i;

/** Of one that may: whether this one does. */
const waits = (args: readonly unknown[] = []): boolean => {
  const words = args.map((argument) => String(argument).toUpperCase());
  const at = words.indexOf('BLOCK');
  // Names of streams come last.
  return at >= 0 && at < words.indexOf('STREAMS');
};

/** What clients send on their own account to connect, to find their servers, to take up subscriptions again and to close. */
const OF_CONNECTIONS =
  /^(?:ASKING|AUTH|CLIENT|CLUSTER|HELLO|INFO|QUIT|READONLY|READWRITE|RESET|SELECT|SENTINEL|[PS]?SUBSCRIBE)$/i;

/** What a queue of bullmq writes when it is made begins with this field. */
const FIELD_OF_BULLMQ = 'opts.maxLenEvents';

/** What is known of a command by its name: a service sends the same few. */
interface KnownCommand {
  /** By their number of arguments. */
  readonly operations: (Operation | undefined)[];
  readonly mayBlock: boolean;
  readonly isUnasked: boolean;
}
const commands = new BoundedCache<string, KnownCommand>(256);

const knownCommand = (command: string): KnownCommand =>
  commands.get(command) ??
  getOrMake(commands, command, () => ({
    operations: [],
    mayBlock: MAY_BLOCK.test(command),
    isUnasked: OF_CONNECTIONS.test(command) || BLOCKING.test(command),
  }));

/** `named` is the place of the first argument. */
const operationOf = ({ command, args }: Command, named: number): Operation => {
  const argumentCount = Math.max(0, (args?.length ?? 0) - named);
  if (typeof command !== 'string' || command.length > MAX_CACHED) return readOperation(command, argumentCount);
  const { operations, mayBlock, isUnasked } = knownCommand(command);
  const places = Math.min(argumentCount, MAX_ARGUMENTS + 1);
  operations[places] ??= readOperation(command, argumentCount);
  const operation = operations[places];
  // Nobody need have asked for it.
  const isOwn = isUnasked || (mayBlock && waits(args)) || args?.[named + 1] === FIELD_OF_BULLMQ;
  return isOwn ? { ...operation, isUnasked: true } : operation;
};

const readOperation = (command: unknown, argumentCount: number): Operation => {
  const operation = nameOf(command);
  const marks = ' ?'.repeat(Math.min(argumentCount, MAX_ARGUMENTS));
  const text = `${operation}${marks}${argumentCount > MAX_ARGUMENTS ? ' …' : ''}`;
  return { text, operation, summary: operation };
};

const batchOf = ({ batchMode, batchSize }: Batch): Operation => {
  const operation = nameOf(batchMode ?? 'PIPELINE');
  return { text: '', operation, summary: operation, batchSize };
};

// Servers answer with a word in capitals first: `WRONGTYPE Operation against a key …`.
const statusOf = (error: unknown): string | undefined => {
  const message = fieldOf(error, 'message');
  return typeof message === 'string' ? /^[A-Z][A-Z0-9_]{1,31}(?= |$)/.exec(message)?.[0] : undefined;
};

/** What is announced of commands and of batches. */
const workOf = (library: string, named: number, options: DatabaseOptions): RedisWork => {
  const redis = new Database(library, 'redis', options, statusOf);
  return {
    command: {
      begin: (message) => redis.start(message, operationOf(message, named)),
      finish: (begun, { error }) => redis.finish(begun, error),
    },
    batch: {
      begin: (message) => redis.start(message, batchOf(message)),
      finish: (begun, { error, result }) => redis.finish(begun, error ?? refusedIn(result)),
    },
  };
};

const traceChannels = (prefix: string, { command, batch }: RedisWork): Off =>
  allOff([traceChannel(`${prefix}:command`, command), traceChannel(`${prefix}:batch`, batch)]);

const POOLS = new KnownClasses();

/** What waits in a pool for a client is done in the context of its caller, not in that of the call that gave the client back. */
const keepWaiting = (): Off => {
  const classes = POOLS.patch((pool) => replaceMethod(pool, 'execute', callingBack));
  return allOff([
    onModule<object>('@redis/client', undefined, (redis) =>
      // Pools have subclasses, with the commands.
      onReturn(redis, 'createClientPool', (pool: object) => classes.see(ownerOf(prototypeOf(pool), 'execute'))),
    ),
    classes.off,
  ]);
};

/** `redis` 5.12 and later, whose arguments begin with the command. */
export const instrumentRedis = (options: DatabaseOptions): Off =>
  allOff([keepWaiting(), traceChannels('node-redis', workOf('redis', 1, options))]);

/** ioredis 4 and later; from 5.11 on by its channels. */
export const instrumentIoredis = (options: IoredisOptions): Off => {
  const work = workOf('ioredis', 0, options);
  return allOff([traceIoredisCalls(options.module, work), keepCallers(options.module), traceChannels('ioredis', work)]);
};
