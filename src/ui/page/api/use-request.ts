// A request as the state of a component: loading, an answer, or an error. A newer request must win over an older one, whichever answers last.
import { useEffect, useState } from 'preact/hooks';

/** What there is to show. `value` of the last answer stays while the next one loads. */
export interface Requested<T> {
  readonly value?: T;
  readonly error?: Error;
  readonly isLoading: boolean;
}

/** Ask again whenever `key` changes; undefined asks nothing. */
export const useRequest = <T>(key: string | undefined, ask: (signal: AbortSignal) => Promise<T>): Requested<T> => {
  const [state, setState] = useState<Requested<T>>({ isLoading: key !== undefined });
  // `ask` is a new function every time; what it asks for is the key.
  useEffect(() => {
    if (key === undefined) return setState({ isLoading: false });
    const controller = new AbortController();
    setState(({ value }) => ({ value, isLoading: true }));
    ask(controller.signal).then(
      (value) => !controller.signal.aborted && setState({ value, isLoading: false }),
      (error: Error) => !controller.signal.aborted && setState({ error, isLoading: false }),
    );
    return () => controller.abort();
  }, [key]);
  return state;
};
