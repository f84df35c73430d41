// Commands of ioredis are announced when they are written. One that waited for its connection, or for others to be sent with it, is written in
// another's context: the line it was made under is kept, and stands again when it is written.
import { lineStore } from '../../local-span/line-store.js';
import type { SpanLine } from '../../local-span/span-line.js';
import { allOff, type Off } from '../channel.js';
import { onModule } from '../on-module.js';
import { type Method, type Prototype, replaceMethod } from '../replace-method.js';

interface Sender {
  readonly prototype: Prototype;
}
interface Ioredis {
  readonly Redis?: Sender;
  readonly Cluster?: Sender;
  readonly Pipeline?: Sender;
}

const NONE = Symbol('no line');
const callers = new WeakMap<object, SpanLine | typeof NONE>();

const keepCaller = (sendCommand: Method): Method =>
  function (this: unknown, ...args) {
    const command = args[0] as object;
    const caller = callers.get(command);
    const line = lineStore.getStore();
    if (caller === undefined) callers.set(command, line ?? NONE);
    if (caller === undefined || caller === (line ?? NONE)) return Reflect.apply(sendCommand, this, args);
    return lineStore.run((caller === NONE ? undefined : caller) as SpanLine, () =>
      Reflect.apply(sendCommand, this, args),
    );
  };

/** Keeps them, in every copy of ioredis. */
export const keepCallers = (module: unknown): Off =>
  onModule<Ioredis>('ioredis', module, ({ Redis, Cluster, Pipeline }) => {
    return allOff(
      [Redis, Cluster, Pipeline].map((sender) => replaceMethod(sender?.prototype, 'sendCommand', keepCaller)),
    );
  });
