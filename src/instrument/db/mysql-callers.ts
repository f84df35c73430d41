// Callbacks and events of mysql 2 and mysql2, in the context of their caller: both drive what they were asked from the packets of the connection. What
// is driven, a sequence of mysql and a command of mysql2, is bound when it is queued. Must make no span: `mysql.ts` and `mysql2.ts` do.
import type { EventEmitter } from 'node:events';
import { allOff, type Off, quiet } from '../channel.js';
import { boundFor, callerHere, emitFor } from '../in-context.js';
import { onModule } from '../on-module.js';
import {
  type Method,
  ownerOf,
  type Prototype,
  prototypeOf,
  replaceMethod,
  SeenClasses,
  seeMade,
} from '../replace-method.js';

interface Sequence extends EventEmitter {
  _callback?: unknown;
}
interface Connection {
  readonly _protocol?: object;
}
interface Mysql {
  readonly createPool?: (config: object) => object;
}
interface Command {
  execute?: Method;
}
/** What mysql2 exports. */
export interface Mysql2 {
  readonly Connection?: { readonly prototype: Prototype };
}

/** The class of connections; pools have subclasses of their own. */
export const connectionsOf = ({ Connection }: Mysql2): Prototype | undefined =>
  ownerOf(Connection?.prototype, 'addCommand');

/** Queued sequences: queries, pings, the end. */
const queueing = (enqueue: Method): Method =>
  function (this: unknown, sequence, ...rest) {
    const caller = callerHere();
    const { _callback: callback } = sequence as Sequence;
    if (callback !== undefined) (sequence as Sequence)._callback = boundFor(caller, callback);
    emitFor(caller, sequence as Sequence);
    return Reflect.apply(enqueue, this, [sequence, ...rest]);
  };

/** mysql 2, whose classes are not exported; in every copy. */
export const keepCallersOfMysql = (): Off => {
  const classes = new SeenClasses();
  const seen = quiet((connection: Connection | undefined) =>
    classes.replace(prototypeOf(connection?._protocol), '_enqueue', queueing),
  );
  const getting = (getConnection: Method): Method =>
    function (this: unknown, callback, ...rest) {
      const bound = boundFor(callerHere(), callback as Method);
      const got = function (this: unknown, ...args: unknown[]): unknown {
        seen(args[1] as Connection | undefined);
        return Reflect.apply(bound, this, args);
      };
      return Reflect.apply(getConnection, this, [got, ...rest]);
    };
  const seenPool = (pool: object): void => classes.replace(prototypeOf(pool), 'getConnection', getting);
  // A cluster makes its pools by the class itself; one that is made opens no connection.
  const seePools = quiet(({ createPool }: Mysql) => {
    if (typeof createPool === 'function') seenPool(createPool({}));
  });
  return allOff([
    onModule<Mysql>('mysql', undefined, (mysql) => {
      seePools(mysql);
      return seeMade(mysql, 'createConnection', seen);
    }),
    classes.off,
  ]);
};

/** Queued commands. */
const adding = (add: Method): Method =>
  function (this: unknown, command, ...rest) {
    const { execute } = command as Command;
    if (typeof execute === 'function') (command as Command).execute = boundFor(callerHere(), execute);
    return Reflect.apply(add, this, [command, ...rest]);
  };

/** Its command is queued under its span; events come to the caller. */
const asking = (ask: Method): Method =>
  function (this: unknown, ...args) {
    const caller = callerHere();
    const command = Reflect.apply(ask, this, args) as EventEmitter | undefined;
    if (typeof command?.emit === 'function') quiet(emitFor)(caller, command);
    return command;
  };

/** In every copy. */
export const keepCallersOfMysql2 = (): Off =>
  onModule<Mysql2>('mysql2', undefined, (mysql2) => {
    const base = connectionsOf(mysql2);
    return allOff([
      replaceMethod(base, 'addCommand', adding),
      replaceMethod(base, 'query', asking),
      replaceMethod(base, 'execute', asking),
    ]);
  });
