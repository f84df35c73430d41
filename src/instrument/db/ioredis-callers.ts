// Commands of ioredis are announced when they are written. One that waited for its connection, or for others to be sent with it, is written in
// another's context: the line it was made under is kept, and stands again when it is written.
import { lineStore } from '../../local-span/line-store.js';
import type { SpanLine } from '../../local-span/span-line.js';
import type { Off } from '../channel.js';
import { onModule } from '../on-module.js';

type Send = (this: unknown, command: object, ...rest: unknown[]) => unknown;
interface Sender {
  readonly prototype: { sendCommand: Send };
}
interface Ioredis {
  readonly Redis?: Sender;
  readonly Cluster?: Sender;
  readonly Pipeline?: Sender;
}

const NONE = Symbol('no line');
const callers = new WeakMap<object, SpanLine | typeof NONE>();

const wrap = ({ prototype }: Sender): Off => {
  const { sendCommand } = prototype;
  const wrapped: Send = function (command, ...rest) {
    const caller = callers.get(command);
    const line = lineStore.getStore();
    if (caller === undefined) callers.set(command, line ?? NONE);
    if (caller === undefined || caller === (line ?? NONE)) return Reflect.apply(sendCommand, this, [command, ...rest]);
    return lineStore.run((caller === NONE ? undefined : caller) as SpanLine, () =>
      Reflect.apply(sendCommand, this, [command, ...rest]),
    );
  };
  prototype.sendCommand = wrapped;
  return () => {
    if (prototype.sendCommand === wrapped) prototype.sendCommand = sendCommand;
  };
};

/** Keeps them, in every copy of ioredis. */
export const keepCallers = (module: unknown): Off =>
  onModule<Ioredis>('ioredis', module, ({ Redis, Cluster, Pipeline }) => {
    const senders = [Redis, Cluster, Pipeline].filter(
      (sender) => typeof sender?.prototype?.sendCommand === 'function',
    ) as Sender[];
    const offs = senders.map(wrap);
    return () => {
      for (const off of offs) off();
    };
  });
