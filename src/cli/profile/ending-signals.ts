// The last moment of a process that a signal ends. A program that handles the signal itself must not find a handler that is not its own:
// libraries count the handlers to see whether the signal is theirs alone.

/** Call `last` when `signal` is about to end this process; never while somebody else handles it. */
export const beforeSignalEnds = (signal: NodeJS.Signals, last: () => void): void => {
  const onSignal = (): void => {
    last();
    stop();
    process.kill(process.pid, signal);
  };
  const isAlone = (): boolean => process.listenerCount(signal) === 0;
  // When the last of the others has gone the signal would end the process, as soon as it is sent: no time may pass.
  const onRemoved = (event: string | symbol): void => {
    if (event === signal && isAlone()) process.on(signal, onSignal);
  };
  // Told before the other is there: without any, Node would give the signal back to the system.
  const onAdded = (event: string | symbol, listener: unknown): void => {
    if (event !== signal || listener === onSignal) return;
    process.nextTick(() => {
      if (process.listenerCount(signal) > 1) process.off(signal, onSignal);
    });
  };
  const stop = (): void => {
    process.off('removeListener', onRemoved);
    process.off('newListener', onAdded);
    process.off(signal, onSignal);
  };
  process.on(signal, onSignal);
  process.on('newListener', onAdded);
  process.on('removeListener', onRemoved);
};
