// Commands of ioredis before 5.11, which publishes nothing: `sendCommand` and `multi` are wrapped, and announced as by ioredis 5.11. A command
// ends where it is answered: by its own `resolve` and `reject`, innermost, for a cluster puts its redirections around those. No promise of the program's may
// be another one, and none may count as looked after.
import { allOff, type Off, quiet } from '../channel.js';
import { hearAnswer, type Over, type Waiting } from '../ending.js';
import type { Begun } from '../measures.js';
import { type FileOf, onModule } from '../on-module.js';
import { type Method, onCall, onReturn, replaceMethod } from '../replace-method.js';
import { type CallWork, endWork } from '../traced-call.js';
import type { Outcome } from '../traced-channel.js';
import { oldVersion } from '../untraced.js';
import type { Server } from './database.js';
import { type Ioredis, sendersOf } from './ioredis-callers.js';

/** A command as ioredis 5.11 and @redis/client announce it. */
export interface Command extends Server {
  readonly command?: unknown;
  readonly args?: readonly unknown[];
}
/** Commands that are sent together. */
export interface Batch extends Server {
  readonly batchMode?: unknown;
  readonly batchSize?: number;
}
/** What is announced of them. */
export interface RedisWork {
  readonly command: CallWork<Command, Begun>;
  readonly batch: CallWork<Batch, Begun>;
}

const OUTCOME = Symbol('spanline.outcome');

interface Client {
  readonly condition?: { readonly select?: unknown } | null;
  readonly options: {
    readonly path?: unknown;
    readonly host?: unknown;
    readonly port?: unknown;
    readonly db?: unknown;
  };
}
interface Sent extends Waiting {
  readonly name?: unknown;
  readonly args?: readonly unknown[];
  [OUTCOME]?: TracedWork<Command>;
}
interface Transaction extends Waiting {
  readonly length: number;
}

/** As ioredis 5.11 announces it. */
const serverOf = ({ condition, options: { path, host, port, db } }: Client): Server => ({
  database: condition?.select ?? db ?? 0,
  serverAddress: path || host || 'localhost',
  serverPort: path ? undefined : port || 6379,
});

/** A transaction has come to what its last command, EXEC, has come to: pairs of error and answer, as of all. */
const hearTransaction = (transaction: Transaction, over: Over): void =>
  hearAnswer(transaction, ({ error, result }) => {
    const last: unknown = Array.isArray(result) ? result.at(-1) : undefined;
    if (error !== undefined || !Array.isArray(last)) over({ error, result });
    else over({ error: last[0] ?? undefined, result: last[1] });
  });

/** A piece of work that is over once. */
class TracedWork<M> {
  /** It may be sent again: from the queue of those that wait for the connection, after a reconnection, when it is redirected. */
  isSent = false;
  #begun: Begun | undefined;
  readonly #work: CallWork<M, Begun>;

  constructor(work: CallWork<M, Begun>) {
    this.#work = work;
  }

  begin(message: M): void {
    this.isSent = true;
    const begun = this.#work.begin(message);
    if (begun?.isRecording === true) this.#begun = begun;
  }

  readonly over: Over = quiet((outcome: Outcome) => {
    const begun = this.#begun;
    this.#begun = undefined;
    if (begun !== undefined) endWork(this.#work, begun, outcome);
  });
}

const isTooOld = (fileOf: FileOf): boolean => {
  const file = fileOf();
  return file !== undefined && oldVersion('ioredis', file) !== undefined;
};

/** ioredis 4, and 5 before 5.11. */
export const traceIoredisCalls = (module: unknown, { command, batch }: RedisWork): Off => {
  const outcomeOf = (sent: Sent): TracedWork<Command> => {
    if (sent[OUTCOME] !== undefined) return sent[OUTCOME];
    const outcome = new TracedWork(command);
    sent[OUTCOME] = outcome;
    hearAnswer(sent, outcome.over);
    return outcome;
  };

  const sending = quiet((client: Client, sent: Sent) => {
    const outcome = outcomeOf(sent);
    const { name, args } = sent;
    if (!outcome.isSent) outcome.begin({ command: name, args, ...serverOf(client) });
  });

  const toServer = (sendCommand: Method): Method =>
    function (this: unknown, ...args) {
      sending(this as Client, args[0] as Sent);
      try {
        return Reflect.apply(sendCommand, this, args);
      } catch (error) {
        (args[0] as Sent | undefined)?.[OUTCOME]?.over({ error });
        throw error;
      }
    };

  const watch = (transaction: Transaction, client: Client): void => {
    // Without a pipeline it is a promise, and its commands go one by one.
    if (typeof transaction?.resolve !== 'function') return;
    const outcome = new TracedWork(batch);
    onCall(transaction, 'exec', () => {
      if (outcome.isSent) return;
      // MULTI is there, EXEC is not.
      const batchSize = Math.max(0, transaction.length - 1);
      outcome.begin({ batchMode: 'MULTI', batchSize, ...serverOf(client) });
      hearTransaction(transaction, outcome.over);
    });
  };

  return onModule<Ioredis>('ioredis', module, (ioredis, fileOf) => {
    const { redis, cluster } = sendersOf(ioredis);
    if (redis === undefined || '_buildCommandContext' in redis || isTooOld(fileOf)) return undefined;
    return allOff([
      replaceMethod(redis, 'sendCommand', toServer),
      onReturn(redis, 'multi', watch),
      // Which gives it to a client later, when its own `reject` tries the next one.
      onCall(cluster, 'sendCommand', (_, [sent]: readonly Sent[]) => void outcomeOf(sent)),
    ]);
  });
};
